import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { RetryPolicy } from './failure.ts'
import { entity } from './values.ts'
import { ToolDeclaration } from './tool-declaration.ts'

export const HostFactsData = lazily(() =>
  z.strictObject({
    /** Declaration hashes that agents keep from earlier Hosts, by tool. */
    keptTools: z.record(z.string(), z.array(z.number())).optional(),
    /** A store keeps sessions' worlds, so that they can be resumed. */
    keepsSessions: z.literal(true).optional(),
    /** By provider; `false`: none. */
    retry: z.record(z.string(), z.union([RetryPolicy(), z.literal(false)])),
    /** Hashes of what providers add to requests by themselves, by provider. */
    settings: z.record(z.string(), z.number()).optional(),
    /** Skill → tool → hash of its declaration. */
    skills: z.record(z.string(), z.record(z.string(), z.number())).optional(),
    /** Hashes of the tools' declarations, by name. */
    tools: z.record(z.string(), z.number()).optional(),
  }),
)
export type HostFactsData = DataOf<typeof HostFactsData>

/** Differences between the Host's tools and those that agents were saved with. */
export const ToolChanges = lazily(() =>
  z.strictObject({
    /** Tools that a program gives to agents at this start. */
    added: z
      .array(z.strictObject({ agent: entity(), tool: ToolDeclaration() }))
      .readonly()
      .optional(),
    /** New declarations of changed tools. */
    changed: z.array(ToolDeclaration()).readonly().optional(),
    /** Agents keep saved declarations. Absent: they are replaced and dropped. */
    kept: z.literal(true).optional(),
    removed: z.array(z.string()).readonly().optional(),
  }),
)
export type ToolChanges = DataOf<typeof ToolChanges>
