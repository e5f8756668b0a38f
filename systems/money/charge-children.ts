import { Delegated } from '../../components/sessions/delegation-limits.ts'
import { ReportedUsage } from '../../components/sessions/reported-usage.ts'
import { type SessionUsage, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubtaskAccount } from '../../components/sessions/subtask-account.ts'
import type { SubtaskSpending } from '../../components/sessions/subtask.ts'
import { newlySpent, toldSoFar } from '../../src/rules/money/ledger-entry.ts'
import { spentBy } from '../../src/rules/delegation/grants.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { delegatedBy } from '../sessions/delegation.ts'
import { charge, keepsLedger } from './charge.ts'

/**
 * Enters what a session and those below it have spent in all: what is new of it, under the session's model, in the ledger
 * of its parent.
 */
export function chargeSession(world: World, session: Entity, usage: SessionUsage): void {
  const { model, parent, usage: settled } = world.read(session, SubagentSession)
  if (!keepsLedger(world, parent)) return
  const before = world.get(session, ReportedUsage)?.usage ?? settled
  const fresh = newlySpent(before, usage)
  world.set(session, ReportedUsage, { agent: parent, usage: toldSoFar(before, usage) })
  if (fresh !== undefined) charge(world, parent, { ...fresh, call: session, model })
}

/** Who pays for what a session spends after its end, and for which entity. */
export interface Asker {
  readonly agent: Entity
  /** Absent: it is gone, and the turn in which it asked is over. */
  readonly call?: Entity
}

/** Enters what a session has spent after its end, on a question or to archive: the agent that wanted it pays. */
export function chargeAsker(world: World, session: Entity, { agent, call }: Asker, usage: SessionUsage): void {
  const { model } = world.read(session, SubagentSession)
  const fresh = newlySpent(undefined, usage)
  if (fresh !== undefined) {
    charge(world, agent, { ...fresh, ...(call === undefined ? { isLate: true } : { call }), model })
  }
  const spent = spentBy(usage)
  const delegated = delegatedBy(world, agent)
  world.set(agent, Delegated, {
    ...delegated,
    spentCostNanoUsd: delegated.spentCostNanoUsd + spent.costNanoUsd,
    spentSessions: delegated.spentSessions + spent.sessions,
    spentTokens: delegated.spentTokens + spent.tokens,
  })
}

/** Enters what a subtask has spent in all: what is new of it. Once its account is closed, nothing is. */
export function chargeSubtask(world: World, subtaskId: string, spent: SubtaskSpending): void {
  const account = accountOf(world, subtaskId)
  if (account === undefined) return
  const { agent, model, spent: before } = world.read(account, SubtaskAccount)
  const fresh = newlySpent({ ...before, sessions: 0 }, { ...spent, sessions: 0 })
  if (fresh === undefined) return
  const { sessions: _, ...all } = toldSoFar({ ...before, sessions: 0 }, { ...spent, sessions: 0 })
  const estimated = Math.max(spent.estimated ?? 0, before.estimated ?? 0)
  world.set(account, SubtaskAccount, { agent, model, spent: estimated > 0 ? { ...all, estimated } : all, subtaskId })
  // Of calls that were estimated only the number is kept apart: their tokens are among those of the others.
  const guessed = Math.min(fresh.calls ?? 0, estimated - (before.estimated ?? 0))
  charge(world, agent, { ...fresh, call: account, calls: (fresh.calls ?? 0) - guessed, model })
  if (guessed > 0) {
    const costNanoUsd = fresh.costNanoUsd === undefined ? undefined : 0
    charge(world, agent, { call: account, calls: guessed, costNanoUsd, isEstimated: true, model, usage: {} })
  }
}

/** The account of a subtask that has not ended, or whose last spending is not known yet. */
export function accountOf(world: World, subtaskId: string): Entity | undefined {
  return world.query(SubtaskAccount).find((each) => world.read(each, SubtaskAccount).subtaskId === subtaskId)
}
