import { CompactionPending, CompactionState, Overflowed } from '../../components/compaction-state.ts'
import { Context } from '../../components/context.ts'
import { LastCall } from '../../components/last-call.ts'
import { LastTurn } from '../../components/last-turn.ts'
import { Prefix } from '../../components/prefix.ts'
import { Turn } from '../../components/turn.ts'
import { losesMore } from '../../src/context/cache-weighing.ts'
import { compactionView } from '../../src/context/compaction-view.ts'
import { lastCallOf } from '../../src/context/last-call-of.ts'
import type { CompactionView, Compactor } from '../../src/context/compactor.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endOverflowed } from './overflow.ts'
import { startSummary, type SummaryStart } from './start-summary.ts'

/** Compacts the conversation of an agent that is about to take a step, if that is due though nobody has asked for it. */
export function compactIfDue(world: World, agent: Entity, compactor: Compactor): void {
  const overflowed = world.get(agent, Overflowed)
  if (overflowed !== undefined) {
    if (overflowed.isRewritten === true) return
    if (start(world, agent, compactor) === 'empty') endOverflowed(world, agent, overflowed.failure)
    return
  }
  if (world.has(agent, CompactionPending)) {
    const isDue = isAutomatic(world, agent) && !isWaiting(world, agent) && !losesCache(world, agent)
    // What does not come now is weighed again when the turn is over.
    if (!isDue || start(world, agent, compactor) === 'empty') world.remove(agent, CompactionPending)
    return
  }
  if (!world.has(agent, Turn) || isWaiting(world, agent)) return
  if (isDueAt(world, agent, compactor, 'mid-turn')) start(world, agent, compactor)
}

/** Is a compaction that nobody has asked for due by how full the agent's window is? Never if that is not known. */
export function isDueAt(world: World, agent: Entity, compactor: Compactor, moment: CompactionView['moment']): boolean {
  const context = world.get(agent, Context)
  if (context?.compaction.enabled !== true) return false
  // Old numbers say nothing: there has to be an own call since the projection was last rewritten.
  const view = compactionView(world, agent, moment, context)
  return view?.fullness !== undefined && compactor.should(view)
}

/** As in `isDueAt`, whatever the numbers say. */
function isAutomatic(world: World, agent: Entity): boolean {
  return world.get(agent, Context)?.compaction.enabled === true && world.has(agent, LastCall)
}

/** After a failure so many turns go by. */
function isWaiting(world: World, agent: Entity): boolean {
  return (world.get(agent, CompactionState)?.turnsToWait ?? 0) > 0
}

function losesCache(world: World, agent: Entity): boolean {
  const { cacheAware, maxOutputTokens } = world.read(agent, Context).compaction
  const { cachePrice, promptTokens } = lastCallOf(world, agent) ?? {}
  if (!cacheAware || promptTokens === undefined) return false
  return losesMore({
    cachePrice,
    cachedTokens: world.get(agent, Prefix)?.cached,
    leftTokens: maxOutputTokens,
    promptTokens,
    steps: world.get(agent, LastTurn)?.steps ?? 0,
  })
}

function start(world: World, agent: Entity, { prompt }: Compactor): SummaryStart {
  return startSummary(world, agent, { by: 'auto', kind: 'summary', prompt, requests: [] })
}
