import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { JsonSchema, onOneLine } from './values.ts'

/** What a restart does with a running effect. */
export const RestartClass = lazily(() => z.enum(['pure', 'keyed', 'once', 'resumable']))
export type RestartClass = DataOf<typeof RestartClass>

/** As model and world see it; the Host has the handler, by name. */
export const ToolDeclaration = lazily(() =>
  z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string(),
    /** JSON Schema of the arguments, an object. */
    inputSchema: JsonSchema(),
    /** Bounds of arguments that the model is not shown, as a part of such a schema. They count all the same. */
    inputBounds: JsonSchema().optional(),
    restart: RestartClass(),
    approval: z.boolean().optional(),
    /** World time until an unanswered approval counts as denied. */
    approvalTimeoutMs: z.number().positive().optional(),
    /** World time for one call. @default ten minutes */
    timeoutMs: z.number().positive().optional(),
    /** For polling: the watchdog ignores repeated calls. */
    repeatable: z.boolean().optional(),
    /** Changes the world itself, in the tick of its call; a system handles it, not the Host. */
    world: z.literal(true).optional(),
    /** Effect on the outside; absent: a policy treats it as unknown, and lets a world tool run. */
    operation: z.enum(['read', 'write', 'exec']).optional(),
    /** Names of arguments that are paths. */
    paths: z.array(z.string()).optional(),
    /** The group that it is granted with, such as `file` or `git`. */
    category: onOneLine().optional(),
    /** The model is not shown it: it finds it with `find_tools`, and calls it with `call_tool`. */
    deferred: z.literal(true).optional(),
  }),
)
export type ToolDeclaration = DataOf<typeof ToolDeclaration>
