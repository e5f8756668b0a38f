import { z } from 'zod'
import { defineComponent } from '../src/world/component.ts'
import { entity } from './entity.ts'

/** Whose effect or call it is; goes with its agent. */
export const OwnedBy = defineComponent('OwnedBy', z.strictObject({ agent: entity }), { ref: 'agent', cascade: true })
