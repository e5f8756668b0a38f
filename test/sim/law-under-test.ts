import type { DrivenStep } from '../../src/engine/effects/host-seams.ts'
import {
  factsOf,
  type Finding,
  type Law,
  type LawWatch,
  type RunFacts,
  type WatchedTick,
  type WatchedWorld,
} from '../../src/sim/law.ts'
import { TickChanges } from '../../src/sim/tick-changes.ts'
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
export function underLaw(law: Law, world: World, facts = run()): LawUnderTest {
  const watch = law.watch(facts)
  return {
    watch,
    begin: (again = world) => watch.began?.(watched(again)),
    tick: (...inputs) => {
      const { again, delta, events, inputs: taken } = tick(world, inputs)
      return watch.ticked?.(watchedTick(watched(world), { again, delta, events, inputs: taken }))
    },
  }
}

/** The facts of a run that begins. */
export function run(maxSessions = 5, which: Partial<Pick<RunFacts, 'isThorough' | 'seed'>> = {}) {
  return factsOf({ seed: 1, maxSessions, processes: 1, isKept: true, isThorough: false, services: {}, ...which })
}

/** A tick of a world as laws see it. */
export function watchedTick(world: WatchedWorld, step: DrivenStep): WatchedTick {
  const changes = new TickChanges()
  changes.look(step)
  return { ...world, step, changes }
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
