import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'

/** What a subagent gets of its parent. */
export const InheritancePolicy = lazily(() =>
  z.strictObject({
    /** `false`: nothing of what follows is inherited. @default true */
    enabled: z.boolean().optional(),
    /** Copy which tools the parent may run and which it may not. @default false */
    inheritPermissions: z.boolean().optional(),
    /** The parent's template stands behind the subagent's own. @default true */
    inheritSystemPrompt: z.boolean().optional(),
    /** Names of tools to copy from the parent. @default none */
    inheritTools: z.array(z.string().min(1)).optional(),
    /** A skill that is nowhere to be had: go on without it and say so, or refuse. @default 'warn' */
    missingSkillPolicy: z.enum(['warn', 'error']).optional(),
    /** Two different tools under one name: keep the subagent's, take the parent's, or refuse. @default 'skip' */
    toolConflictPolicy: z.enum(['skip', 'override', 'error']).optional(),
  }),
)
export type InheritancePolicy = DataOf<typeof InheritancePolicy>

/** What holds where a policy says nothing. */
export const defaultInheritance = {
  enabled: true,
  inheritPermissions: false,
  inheritSystemPrompt: true,
  inheritTools: [] as readonly string[],
  missingSkillPolicy: 'warn',
  toolConflictPolicy: 'skip',
} as const
