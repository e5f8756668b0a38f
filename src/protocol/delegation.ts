import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../world/lazily.ts'
import { SubtaskSpending, type TokenUsage } from './usage.ts'
import { Failure } from './failure.ts'

/** What a session can be. The last four are final. */
export const sessionStatuses = ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'] as const
export type SessionStatus = (typeof sessionStatuses)[number]

/** What a session can become. */
const transitions: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['succeeded', 'failed', 'timed_out', 'cancelled'],
  succeeded: [],
  failed: [],
  timed_out: [],
  cancelled: [],
}

/** Has a session ended for good? */
export function isFinal(status: SessionStatus): boolean {
  return transitions[status].length === 0
}

/** Why a session cannot go from one state to another; `undefined` if it can. */
export function transitionProblem(before: SessionStatus, after: SessionStatus): string | undefined {
  if (transitions[before].includes(after)) return undefined
  return `it is ${before}${isFinal(before) ? ', which is final' : ''}, and cannot become ${after}`
}

/** `named`: a registered subagent; `free`: any other name; `fork`: a copy of its parent; `holder`: has an archived turn. */
export const sessionKinds = ['named', 'free', 'fork', 'holder'] as const
export type SessionKind = (typeof sessionKinds)[number]

/** What a session may spend in turn, of what its parent has left. */
export const GrantLimits = lazily(() =>
  z.strictObject({
    costUsd: z.number().nonnegative().optional(),
    sessions: z.number().int().nonnegative().optional(),
    tokens: z.number().int().nonnegative().optional(),
  }),
)
export type GrantLimits = DataOf<typeof GrantLimits>

/** Of the component `DelegationLimits`, and of a grant to a session. */
export const DelegationLimitsData = lazily(() =>
  z.strictObject({
    /** Of its sessions, in US dollars. Absent: no limit. */
    costUsd: z.number().nonnegative().optional(),
    /** Levels of sessions below it. @default 3 */
    depth: z.number().int().nonnegative().optional(),
    /**
     * Sessions that it and those below it may launch. At 90 % of it, `session-limit-neared` is emitted; `runner.change` may
     * set a higher one. @default 200
     */
    sessions: z.number().int().nonnegative().optional(),
    /** Tokens of its sessions. Absent: no limit. */
    tokens: z.number().int().nonnegative().optional(),
  }),
)
export type DelegationLimitsData = DataOf<typeof DelegationLimitsData>

/** What holds where `DelegationLimits` says nothing. */
export const defaultDelegation = { depth: 3, sessions: 200 } as const

/** The percentage of its sessions at which an agent is said to be near its limit. */
export const nearPercent = 90

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
    /** A missing skill: go on with a `warning`, or refuse. @default 'warn' */
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

/** What a subtask's effect comes back with. */
export const SubtaskOutcome = lazily(() =>
  z.strictObject({
    digest: z.string(),
    durationMs: z.number().nonnegative(),
    failure: Failure().optional(),
    /** All that it has spent. */
    spent: SubtaskSpending(),
    stepsUsed: z.number().int().nonnegative(),
    subtaskId: z.string(),
    truncated: z.boolean(),
  }),
)
export type SubtaskOutcome = DataOf<typeof SubtaskOutcome>

/** What a subtask has come to, as a program reads it. */
export type SubtaskResult = {
  /** The last text that its model wrote; `[no digest]`: it wrote none. */
  readonly digest: string
  /** There may be more: steps, time or money ran out, the model was stopped at its output limit, or the digest was cut. */
  readonly truncated: boolean
  readonly stepsUsed: number
  readonly usage: TokenUsage
  /** Absent: no price is known. */
  readonly costUsd?: number
  /** World time. */
  readonly durationMs: number
  readonly failure?: Failure
}
