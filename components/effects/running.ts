import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'

/**
 * The effect has a slot. A `once` effect begins as soon as this is committed; found after a restart, it may have happened. A
 * `resumable` one, such as a session, goes on after a restart.
 */
export const Running = defineComponent('Running', () => z.strictObject({ sinceMs: z.number() }))
