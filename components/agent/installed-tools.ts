import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** The tools that an agent's configuration has brought along: they go with it, and those that a program gave stay. */
export const InstalledTools = defineComponent('InstalledTools', () => z.strictObject({ names: z.array(z.string()) }))
