import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/** The effect waits for its next try until this world time. */
export const Due = defineComponent('Due', () => z.strictObject({ atMs: z.number() }))
