import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { DelegationLimitsData } from '../../src/protocol/delegation.ts'

/** What an agent may delegate, in all its life. 0 allows none. */
export const DelegationLimits = defineComponent('DelegationLimits', DelegationLimitsData)

const count = () => z.number().int().nonnegative()

/** What an agent has delegated so far. `reserved…` is what its running sessions were granted; `spent…` what ended ones used. */
export const Delegated = defineComponent('Delegated', () =>
  z.strictObject({
    /** Sessions that have ended. */
    finished: count(),
    /** Holders that it knows. They were not launched but take sequence numbers. */
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
