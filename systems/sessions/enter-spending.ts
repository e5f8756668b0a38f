import { Delegated } from '../../components/delegation-limits.ts'
import { type SessionUsage, SubagentSession } from '../../components/subagent-session.ts'
import { newlySpent } from '../../src/context/ledger-entry.ts'
import { spentBy } from '../../src/subagents/grants.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { charge } from '../money/charge.ts'
import { delegatedBy } from './delegation.ts'

/** Whose money it is, and what it was spent for. */
export interface Spender {
  readonly agent: Entity
  /** The entity by which it was asked for. Absent: it is gone, and the turn that it was asked in is over. */
  readonly call?: Entity
  readonly session: Entity
}

/** Enters what a session has used after its end: that is borne by who wanted it. */
export function enterSpending(world: World, { agent, call, session }: Spender, usage: SessionUsage): void {
  const used = newlySpent(undefined, usage)
  const { model } = world.read(session, SubagentSession)
  if (used !== undefined)
    charge(world, agent, { ...used, ...(call === undefined ? { isLate: true } : { call }), model })
  const spent = spentBy(usage)
  const delegated = delegatedBy(world, agent)
  world.set(agent, Delegated, {
    ...delegated,
    spentCostNanoUsd: delegated.spentCostNanoUsd + spent.costNanoUsd,
    spentSessions: delegated.spentSessions + spent.sessions,
    spentTokens: delegated.spentTokens + spent.tokens,
  })
}
