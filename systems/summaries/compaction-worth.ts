import { CompactionPending, CompactionState, Unweighed } from '../../components/compaction-state.ts'
import { LastCall } from '../../components/last-call.ts'
import { Turn } from '../../components/turn.ts'
import { compactionView } from '../../src/context/compaction-view.ts'
import type { Compactor } from '../../src/context/compactor.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { anybodyHas } from '../anybody-has.ts'
import { tell } from '../tell.ts'
import { isDueAt } from './compact-if-due.ts'

/** Longest wait, in turns, between two compactions that nobody asks for. */
const maxTurnsToWait = 32

/** A turn of an agent has ended: is its conversation to be compacted before the next one begins? */
export function weighTurn(world: World, agent: Entity, compactor: Compactor): void {
  world.remove(agent, Unweighed)
  const turnsToWait = world.get(agent, CompactionState)?.turnsToWait ?? 0
  if (turnsToWait > 0) world.patch(agent, CompactionState, { turnsToWait: turnsToWait - 1 })
  if (isDueAt(world, agent, compactor, 'turn-end')) world.add(agent, CompactionPending)
  else world.remove(agent, CompactionPending)
}

/**
 * What became of agents' newest compactions is shown by the first own calls behind them. Such a call has come in this tick:
 * the agent's turn is open, or has just ended. Those that rest are not looked at, however many are on trial.
 */
export function judgeCompactions(world: World, compactor: Compactor): void {
  if (!anybodyHas(world, CompactionState)) return
  const moving = [...world.query(CompactionState, Turn), ...world.query(CompactionState, Unweighed)]
  for (const agent of moving.toSorted((a, b) => a - b)) judgeIfShown(world, agent, compactor)
}

function judgeIfShown(world: World, agent: Entity, compactor: Compactor): void {
  const isOnTrial = world.get(agent, CompactionState)?.isOnTrial === true
  if (isOnTrial && world.has(agent, LastCall)) judge(world, agent, compactor)
}

function judge(world: World, agent: Entity, compactor: Compactor): void {
  const view = compactionView(world, agent, 'next-call')
  if (view?.fullness === undefined || !compactor.should(view)) return world.remove(agent, CompactionState)
  const { fullness, threshold } = view
  const failures = noteFailure(world, agent)
  tell(world, 'compaction-ineffective', { agent, fullness, threshold: threshold.value, failures })
}

/** A compaction that nobody has asked for has failed: the next one comes the later the more have failed. Gives how many have. */
export function noteFailure(world: World, agent: Entity): number {
  const failures = (world.get(agent, CompactionState)?.failures ?? 0) + 1
  const doubled = 2 ** (failures < 31 ? failures : 31)
  world.set(agent, CompactionState, { failures, turnsToWait: doubled < maxTurnsToWait ? doubled : maxTurnsToWait })
  return failures
}

/** A compaction was written. One that nobody has asked for is worth something if the next own call is short enough. */
export function noteSuccess(world: World, agent: Entity, by: 'auto' | 'manual'): void {
  const { failures = 0 } = world.get(agent, CompactionState) ?? {}
  if (by === 'auto') world.set(agent, CompactionState, { failures, isOnTrial: true, turnsToWait: 0 })
  else world.remove(agent, CompactionState)
}
