import { Requested } from '../components/tool-call.ts'
import type { Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { anybodyHas } from './anybody-has.ts'

const none: readonly Entity[] = Object.freeze([])

/** What was found last in a world, and after which write: two systems of a tick ask, and mostly nothing changes meanwhile. */
interface Found {
  revision: number
  count: number
  calls: readonly Entity[]
}

const lastFound = new WeakMap<World, Found>()

/** The first so many calls that nobody has decided about, ascending. */
export function requestedCalls(world: World, count: number): readonly Entity[] {
  const calls = soonRequested(world, count)
  return calls.length <= count ? calls : calls.slice(0, count)
}

/** These, and as many behind them: some of the first may be refused before they are decided about. */
export function soonRequested(world: World, count: number): readonly Entity[] {
  if (!anybodyHas(world, Requested)) return none
  const { revision } = world.core.state
  const last = lastFound.get(world)
  if (last !== undefined && last.revision === revision && last.count === count) return last.calls
  const calls = world.first(2 * count, Requested)
  if (last === undefined) lastFound.set(world, { revision, count, calls })
  else {
    last.revision = revision
    last.count = count
    last.calls = calls
  }
  return calls
}
