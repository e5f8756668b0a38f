import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { RetryPolicy } from './failure.ts'
import { entity } from './values.ts'
import { ToolDeclaration } from './tool-declaration.ts'

/** Of the component `HostFacts`, and of the input `started`. */
export const HostFactsData = lazily(() =>
  z.strictObject({
    /** Hashes of declarations that agents keep from earlier Hosts, by tool. */
    keptTools: z.record(z.string(), z.array(z.number())).optional(),
    /** Sessions' worlds are kept in a store, so that one can go on from where it ended. */
    keepsSessions: z.literal(true).optional(),
    /** Retry policies of the providers that have one of their own; `false`: none. */
    retry: z.record(z.string(), z.union([RetryPolicy(), z.literal(false)])),
    /** Hashes of what providers add to requests of their own accord, by provider. */
    settings: z.record(z.string(), z.number()).optional(),
    /** The catalogue of skills: by name, the tools that come with each, with hashes of their declarations. */
    skills: z.record(z.string(), z.record(z.string(), z.number())).optional(),
    /** Hashes of the tools' declarations, by name. */
    tools: z.record(z.string(), z.number()).optional(),
  }),
)
export type HostFactsData = DataOf<typeof HostFactsData>

/** What is different about the tools of the Host that takes a world up, beside those that its agents were saved with. */
export const ToolChanges = lazily(() =>
  z.strictObject({
    /** Tools that a program gives to agents at this start. */
    added: z
      .array(z.strictObject({ agent: entity(), tool: ToolDeclaration() }))
      .readonly()
      .optional(),
    /** Declarations as they are now, of tools that were declared otherwise before. */
    changed: z.array(ToolDeclaration()).readonly().optional(),
    /** Agents keep what they were saved with. Absent: it is replaced and dropped. */
    kept: z.literal(true).optional(),
    /** Names of tools that the Host had before, and has no more. */
    removed: z.array(z.string()).readonly().optional(),
  }),
)
export type ToolChanges = DataOf<typeof ToolChanges>
