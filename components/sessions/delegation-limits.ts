import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'

/** What an agent may delegate, in all its life. 0 allows none. */
export const DelegationLimits = defineComponent('DelegationLimits', () =>
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
export type DelegationLimitsData = DataOf<() => typeof DelegationLimits.schema>

/** What holds where `DelegationLimits` says nothing. */
export const defaultDelegation = { depth: 3, sessions: 200 } as const

/** The percentage of its sessions at which an agent is said to be near its limit. */
export const nearPercent = 90

const count = () => z.number().int().nonnegative()

/** What an agent has delegated so far. `reserved…` is what its running sessions were granted; `spent…` what ended ones used. */
export const Delegated = defineComponent('Delegated', () =>
  z.strictObject({
    /** Sessions that have ended. */
    finished: count(),
    /** Holders that it knows, which nobody has launched: they have sequence numbers all the same. */
    holders: count().optional(),
    /** Sessions launched. */
    launched: count(),
    /** Of those, the ones that a session had launched which this agent goes on with: they are counted there. */
    launchedBefore: count().optional(),
    /** The limit of sessions of which `session-limit-neared` was emitted last. */
    nearedSessions: count().optional(),
    reservedCostNanoUsd: count(),
    reservedSessions: count(),
    reservedTokens: count(),
    spentCostNanoUsd: count(),
    spentSessions: count(),
    spentTokens: count(),
  }),
)
export type DelegatedData = DataOf<() => typeof Delegated.schema>
