import { z } from 'zod'
import { defineComponent } from '../src/world/component.ts'

/** The `once` effect begins as soon as this is committed. Found after a restart: it may have happened. */
export const Running = defineComponent('Running', () => z.strictObject({ sinceMs: z.number() }))
