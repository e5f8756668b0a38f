import type { Finding, Law, LawWatch, RunFacts, WatchedWorld } from '../../src/sim/index.ts'
import type { Input } from '../../src/world/input.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'

/** A law that watches one world, tick by tick. */
export interface LawUnderTest {
  readonly watch: LawWatch
  /** What the law says when the world, or what stands for it after a crash, is taken up. */
  readonly begin: (again?: World) => Finding
  /** Ticks once, and gives what the law says of it. */
  readonly tick: (...inputs: readonly Input[]) => Finding
}

/** Has a world watched by one law alone. */
export function underLaw(law: Law, world: World): LawUnderTest {
  const run: RunFacts = { seed: 1, maxSessions: 5, isKept: true, services: {} }
  const watch = law.watch(run)
  return {
    watch,
    begin: (again = world) => watch.began?.(watched(again)),
    tick: (...inputs) => {
      const { again, delta, events, inputs: taken } = tick(world, inputs)
      return watch.ticked?.({ ...watched(world), step: { again, delta, events, inputs: taken } })
    },
  }
}

/** A root world as laws see it. */
export function watched(world: World): WatchedWorld {
  return { world, label: world.name, path: [], inSlot: false }
}

/** A world that does one of these things in each tick. */
export function worldOf(...steps: readonly ((world: World) => unknown)[]): World {
  const waiting = [...steps]
  return new World({ systems: [{ name: 'steps', priority: 0, run: (world) => void waiting.shift()?.(world) }] })
}
