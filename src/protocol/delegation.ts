import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'
import { SubtaskSpending, type TokenUsage } from './usage.ts'
import { Failure } from './failure.ts'
import { PolicyMarks } from './policy.ts'

export const sessionStatuses = ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'] as const
/** Where a session is in its life. */
export type SessionStatus = (typeof sessionStatuses)[number]

const transitions: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['succeeded', 'failed', 'timed_out', 'cancelled'],
  succeeded: [],
  failed: [],
  timed_out: [],
  cancelled: [],
}

export function isFinal(status: SessionStatus): boolean {
  return transitions[status].length === 0
}

/** Why a transition is refused; `undefined` if it is allowed. */
export function transitionProblem(before: SessionStatus, after: SessionStatus): string | undefined {
  if (transitions[before].includes(after)) return undefined
  return `it is ${before}${isFinal(before) ? ', which is final' : ''}, and cannot become ${after}`
}

/** `named`: registered; `free`: unregistered; `fork`: a copy of its parent; `holder`: holds an archived turn. */
export const sessionKinds = ['named', 'free', 'fork', 'holder'] as const
export type SessionKind = (typeof sessionKinds)[number]

/** Part of the parent's remaining budget. */
export const GrantLimits = lazily(() =>
  z.strictObject({
    costUsd: z.number().nonnegative().optional(),
    sessions: z.number().int().nonnegative().optional(),
    tokens: z.number().int().nonnegative().optional(),
  }),
)
export type GrantLimits = DataOf<typeof GrantLimits>

export const DelegationLimitsData = lazily(() =>
  z.strictObject({
    /** For its sessions. Absent: no limit. */
    costUsd: z.number().nonnegative().optional(),
    /** Levels of sessions below it. @default 3 */
    depth: z.number().int().nonnegative().optional(),
    /** Launched by it and those below it; `session-limit-neared` at 90 %, `runner.change` raises it. @default 200 */
    sessions: z.number().int().nonnegative().optional(),
    /** For its sessions. Absent: no limit. */
    tokens: z.number().int().nonnegative().optional(),
  }),
)
export type DelegationLimitsData = DataOf<typeof DelegationLimitsData>

export const defaultDelegation = { depth: 3, sessions: 200 } as const

/** Share of the session limit at which `session-limit-neared` is emitted. */
export const nearPercent = 90

export const InheritancePolicy = lazily(() =>
  z.strictObject({
    /** `false`: inherit nothing. @default true */
    enabled: z.boolean().optional(),
    /** Copy the parent's `Permissions`. @default false */
    inheritPermissions: z.boolean().optional(),
    /** Append the parent's template to its own. @default true */
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

export const defaultInheritance = {
  enabled: true,
  inheritPermissions: false,
  inheritSystemPrompt: true,
  inheritTools: [] as readonly string[],
  missingSkillPolicy: 'warn',
  toolConflictPolicy: 'skip',
} as const

export const SubtaskOutcome = lazily(() =>
  z.strictObject({
    digest: z.string(),
    durationMs: z.number().nonnegative(),
    failure: Failure().optional(),
    /** What its calls have touched, where they are judged. */
    marks: PolicyMarks().optional(),
    spent: SubtaskSpending(),
    stepsUsed: z.number().int().nonnegative(),
    subtaskId: z.string(),
    truncated: z.boolean(),
  }),
)
export type SubtaskOutcome = DataOf<typeof SubtaskOutcome>

/** A subtask's result, for programs. */
export type SubtaskResult = {
  /** The model's last text; `[no digest]` if there was none. */
  readonly digest: string
  /** Incomplete: out of steps, time or money, stopped at the output limit, or cut. */
  readonly truncated: boolean
  readonly stepsUsed: number
  readonly usage: TokenUsage
  readonly costUsd?: number
  readonly durationMs: number
  readonly failure?: Failure
}
