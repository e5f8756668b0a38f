import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { DelegationLimitsData } from '../../src/protocol/delegation.ts'

/** Totals over an agent's life. 0 allows none. */
export const DelegationLimits = defineComponent('DelegationLimits', DelegationLimitsData)

const count = () => z.number().int().nonnegative()

/** `reserved…`: granted to running sessions; `spent…`: used by ended ones. */
export const Delegated = defineComponent('Delegated', () =>
  z.strictObject({
    finished: count(),
    /** Known holders: not launched, but they take sequence numbers. */
    holders: count().optional(),
    launched: count(),
    /** Launched by the session that this agent resumes: counted there. */
    launchedBefore: count().optional(),
    /** The limit at which `session-limit-neared` was last emitted. */
    nearedSessions: count().optional(),
    reservedCostNanoUsd: count(),
    reservedSessions: count(),
    reservedTokens: count(),
    spentCostNanoUsd: count(),
    spentSessions: count(),
    spentTokens: count(),
    /** Calls of ended sessions whose cost is unknown. Absent: none. */
    unknownCosts: count().optional(),
  }),
)
export type DelegatedData = DataOf<() => typeof Delegated.schema>
