import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { entity } from '../../src/protocol/entity.ts'

/** Whose effect or call it is. What an agent owns ends with the agent's turn, and goes with the agent. */
export const OwnedBy = defineComponent('OwnedBy', () => z.strictObject({ agent: entity() }), {
  ref: 'agent',
  cascade: true,
})
