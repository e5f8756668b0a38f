import { Ceilings, type CeilingsData, CostCeiling } from '../../../components/money/ceilings.ts'
import { Delegated } from '../../../components/sessions/delegation-limits.ts'
import { Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { Ledger, type LedgerData } from '../../../components/money/ledger.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { ReportedUsage, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { SessionQuery } from '../../../components/sessions/session-call.ts'
import { SubtaskCount } from '../../../components/sessions/subtask.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { Usage } from '../../../components/money/usage.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { costOf } from './amounts.ts'

/** An agent that reaches its ceiling stops in the same tick; calls already in flight may exceed it. */
export const ceilingsKept: Law = {
  name: 'ceilings-kept',
  meaning: 'No ceiling is passed by more than the calls in flight, and what they cost is in the ledger once.',
  watch() {
    /** Agents stopped by the end of the last tick, by world. */
    const stopped = new Map<string, Set<Entity>>()
    /** Agents whose ledgers hold what no other count has: side calls, and calls that a cancel cut short. */
    const inexact = new Set<Entity>()
    /** A crash may cut short calls of any agent. */
    let hasCrashed = false
    return {
      began({ label, world }) {
        stopped.set(label, new Set(world.entitiesWith(CostCeiling)))
      },
      ticked(tick) {
        const before = stopped.get(tick.label)
        if (before === undefined) return undefined
        for (const [, { agent }] of tick.changes.of(SideCall).set) inexact.add(agent)
        for (const input of tick.step.inputs) if (input.kind === 'cancel') inexact.add(input['agent'] as Entity)
        let finding: Finding
        if (before.size > 0) finding = beginning(tick, before)
        if (tick.changes.of(Ledger).set.length > 0)
          finding ??= booked(tick, (agent) => hasCrashed || inexact.has(agent))
        const latches = tick.changes.of(CostCeiling)
        for (const [agent] of latches.set) before.add(agent)
        for (const agent of latches.removed) before.delete(agent)
        return finding
      },
      crashed() {
        hasCrashed = true
      },
    }
  },
}

/** Work that an agent starts although it was stopped before the tick, and still is. */
function beginning(tick: WatchedTick, before: ReadonlySet<Entity>): Finding {
  const { world } = tick
  if (tick.step.inputs.some(({ kind }) => kind === 'cost-ceiling-reset')) return undefined
  for (const begun of [Pending, Running]) {
    for (const [effect] of tick.changes.of(begun).set) {
      const agent = payerOf(world, effect)
      if (agent === undefined || !before.has(agent) || !world.has(agent, CostCeiling)) continue
      const kind = world.get(effect, Effect)?.kind
      const { bound, limitUsd, spentUsd } = world.read(agent, CostCeiling)
      return `a ${kind} effect of agent ${agent} begins, which has spent $${spentUsd} of $${limitUsd} a ${bound}`
    }
  }
  return undefined
}

function payerOf(world: World, effect: Entity): Entity | undefined {
  if (world.has(effect, ModelCall)) return world.get(effect, OwnedBy)?.agent
  const session = world.get(effect, SubagentSession)
  if (session !== undefined) return session.status === 'running' ? session.parent : undefined
  return world.get(effect, SideCall)?.agent ?? world.get(effect, SessionQuery)?.agent
}

function booked(tick: WatchedTick, isInexact: (agent: Entity) => boolean): Finding {
  const { world } = tick
  for (const [agent, ledger] of tick.changes.of(Ledger).set) {
    const ceilings = world.get(agent, Ceilings)
    if (ceilings === undefined) continue
    const reached = reachedBy(ceilings, ledger, world.has(agent, Turn))
    if (reached !== undefined && !world.has(agent, CostCeiling))
      return `agent ${agent} goes on, and has spent ${reached}`
    const known = (world.get(agent, Usage)?.costNanoUsd ?? 0) + (world.get(agent, Delegated)?.spentCostNanoUsd ?? 0)
    const isExact = !isInexact(agent) && isWhole(world, agent, ledger)
    if (ledger.sessionNanoUsd >= known && (!isExact || ledger.sessionNanoUsd === known)) continue
    return `the ledger of agent ${agent} has ${ledger.sessionNanoUsd}, and its calls, sessions and questions have cost ${known}`
  }
  return undefined
}

/** The ceiling that the agent reached, if any. A turn's ceiling counts while the turn is open. */
function reachedBy(
  { maxSessionCostUsd, maxTurnCostUsd }: CeilingsData,
  { sessionNanoUsd, turnNanoUsd }: LedgerData,
  isInTurn: boolean,
): string | undefined {
  if (isInTurn && isReached(turnNanoUsd, maxTurnCostUsd)) return `${turnNanoUsd} of $${maxTurnCostUsd} a turn`
  return isReached(sessionNanoUsd, maxSessionCostUsd) ? `${sessionNanoUsd} of $${maxSessionCostUsd} in all` : undefined
}

function isReached(spentNanoUsd: number, maxUsd: number | undefined): boolean {
  return maxUsd !== undefined && spentNanoUsd > 0 && spentNanoUsd >= costOf(maxUsd)
}

function isWhole(world: World, agent: Entity, { models }: LedgerData): boolean {
  if (world.has(agent, SubtaskCount) || world.isReferred(ReportedUsage, agent)) return false
  return Object.values(models).every(({ estimated }) => estimated === undefined)
}
