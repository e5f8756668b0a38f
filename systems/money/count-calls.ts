import { Archival } from '../../components/context/archival.ts'
import { Ceilings } from '../../components/money/ceilings.ts'
import { LastCall } from '../../components/context/last-call.ts'
import { TokenFactors, UncountedCalls } from '../../components/money/token-factors.ts'
import { lastCallOf } from '../../src/rules/context/compactor.ts'
import { countedCalls, maxCountedCalls } from '../../src/rules/tokens/request-tokens.ts'
import type { DataOf, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

type UncountedCall = DataOf<() => typeof UncountedCalls.schema>

/** Records an own call for its model's token factor, for agents whose tokens are estimated. */
export function noteOwnCall(world: World, agent: Entity, call: UncountedCall): void {
  if (!keepsOwnCalls(world, agent)) return
  world.append(agent, UncountedCalls, call)
  const { length } = world.read(agent, UncountedCalls)
  if (length >= 2 * maxCountedCalls) world.splice(agent, UncountedCalls, 0, length - maxCountedCalls, [])
}

export function keepsOwnCalls(world: World, agent: Entity): boolean {
  return world.has(agent, Ceilings) || world.has(agent, Archival)
}

/** Drops an agent's recorded calls, except the newest's token count. */
export function dropOwnCalls(world: World, agent: Entity): void {
  const last = world.get(agent, LastCall)?.isBehind === true ? lastCallOf(world, agent) : undefined
  if (last !== undefined) world.set(agent, LastCall, last)
  world.remove(agent, UncountedCalls)
}

/** Counts an agent's recorded calls before its tokens are estimated. */
export function countCalls(world: World, agent: Entity): void {
  if (!world.has(agent, UncountedCalls)) return
  const models = countedCalls(world, agent)
  dropOwnCalls(world, agent)
  if (models.size > 0) world.set(agent, TokenFactors, { models: Object.fromEntries(models) })
}
