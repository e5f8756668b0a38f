import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { entity } from './entity.ts'
import { ToolDeclaration } from './tool-declaration.ts'

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
