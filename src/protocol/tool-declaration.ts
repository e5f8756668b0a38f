import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { JsonSchema } from './values.ts'

/** What a restart does with an effect that was running. */
export const RestartClass = lazily(() => z.enum(['pure', 'keyed', 'once', 'resumable']))
export type RestartClass = DataOf<typeof RestartClass>

/** A tool as a model sees it and as the world treats it; its handler is found on the Host by name. */
export const ToolDeclaration = lazily(() =>
  z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: z.string(),
    /** JSON Schema of the arguments, an object. */
    inputSchema: JsonSchema(),
    restart: RestartClass(),
    /** A person has to agree before it runs. */
    approval: z.boolean().optional(),
    /** Milliseconds of world time until an approval that is not answered counts as denied. */
    approvalTimeoutMs: z.number().positive().optional(),
    /** Longest run, in milliseconds of world time. */
    timeoutMs: z.number().positive().optional(),
    /** The same call may come again and again: it polls, and the watchdog does not count it. */
    repeatable: z.boolean().optional(),
    /** It changes the world itself, in the tick of its call; the systems have its handler, not the Host. */
    world: z.literal(true).optional(),
    /** What it does to the outside. A policy treats a tool that does not say as unknown. */
    operation: z.enum(['read', 'write', 'exec']).optional(),
    /** Its arguments that are paths. */
    paths: z.array(z.string()).optional(),
    /** The group that it is granted with, such as `file` or `git`. */
    category: z.string().optional(),
  }),
)
export type ToolDeclaration = DataOf<typeof ToolDeclaration>
