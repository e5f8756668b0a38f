import { Requested } from '../../components/agent/tool-call.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** The first so many calls that nobody has decided about, ascending. */
export function requestedCalls(world: World, count: number): readonly Entity[] {
  const calls = soonRequested(world, count)
  return calls.length <= count ? calls : calls.slice(0, count)
}

/** These, and as many behind them: some of the first may be refused before they are decided about. */
export function soonRequested(world: World, count: number): readonly Entity[] {
  return world.first(2 * count, Requested)
}
