import { type HostOptions, memoryStore, type RunnerEvent, standardSystems, type System, type World } from 'entia'
import * as components from 'entia/components'
import type { SharedStore } from 'entia/stores'
import { onTestFinished } from 'vitest'
import { Host } from '../../../src/engine/effects/host.ts'
import type { Board } from '../../../src/engine/fleet/board.ts'
import { Worker, type WorkerParts } from '../../../src/engine/fleet/worker.ts'
import { firstSnapshot } from '../../../src/engine/loop/journal-writer.ts'
import { restored } from '../../../src/engine/loop/stored-ticks.ts'
import { letterLine } from '../../../src/protocol/letter.ts'
import { SimulatedBoard } from '../../../src/sim/fleet/simulated-board.ts'
import type { Component } from '../../../src/world/component.ts'

export const known = {
  systems: standardSystems(),
  components: Object.values(components).filter((value) => typeof value === 'function') as unknown as Component[],
}

export interface FleetOptions {
  readonly host: () => HostOptions
  readonly make: (name: string) => World
  /** Of its worlds. @default the standard ones */
  readonly systems?: readonly System[]
  readonly cap?: number
  readonly store?: SharedStore
}

/** Workers of one process that share a store, each with a Host of its own. */
export function fleet({ cap = 50, host, make, store = memoryStore(), systems = known.systems }: FleetOptions) {
  const board = new SimulatedBoard({ store, cap, date: () => Date.now(), maxStrikes: Infinity })
  const events: RunnerEvent[] = []
  const hearers = new Set<(event: RunnerEvent) => void>()
  const hear = (event: RunnerEvent): void => {
    events.push(event)
    for (const each of hearers) each(event)
  }
  const workers = new Map<string, Worker>()
  onTestFinished(async () => {
    await Promise.all([...workers.values()].map((worker) => worker.stop()))
    await store.close()
  })

  function worker(
    name: string,
    {
      has = host(),
      through = (its) => its,
      ...more
    }: Partial<Pick<WorkerParts, 'dropsTools' | 'failed' | 'idleMs' | 'maxSessions' | 'maxWorlds' | 'unfit'>> & {
      /** What its Host has. @default the same as all */
      readonly has?: HostOptions
      /** How it reaches the board. */
      readonly through?: (board: Board) => Board
    } = {},
  ): Worker {
    const line = through(board.of(name))
    const its: Board = {
      ...line,
      due: async (...given) => {
        const due = await line.due(...given)
        // Who was thought dead is heard again.
        board.presence.beat(name)
        return due
      },
    }
    const itsHost = new Host(has, { fleet: its })
    board.presence.says(name, itsHost.abilities)
    const made = new Worker({
      // The board knows the holder of a world by its name.
      store: { ...store, open: (world, options) => store.open(world, { ...options, holder: name }) },
      board: its,
      host: itsHost,
      known: { ...known, systems },
      make,
      maxSessions: 10,
      maxWorlds: 10,
      idleMs: 5,
      ...more,
    })
    made.on('*', hear)
    made.start()
    workers.set(name, made)
    return made
  }

  return {
    board,
    events,
    store,
    worker,
    /** Resolves with the first event from now on of which something holds. */
    next: (holds: (event: RunnerEvent) => boolean): Promise<RunnerEvent> =>
      new Promise((resolve) => {
        const look = (event: RunnerEvent): void => {
          if (!holds(event)) return
          hearers.delete(look)
          resolve(event)
        }
        hearers.add(look)
      }),
    /** Puts an input into the box of a root world. */
    post: (world: string, input: { readonly kind: string } & Readonly<Record<string, unknown>>, id?: string) =>
      store.post({ world, line: letterLine({ input }), id }),
    /** A world as it is committed. */
    read: async (name: string, root = name): Promise<World> => {
      const stored = await store.read(name, { root })
      if (stored === undefined) throw new Error(`there is no world ${name}`)
      return restored(name, stored, { ...known, systems }).world
    },
  }
}

/** Writes a world unless the store has it. It is due. */
export async function place(store: SharedStore, world: World): Promise<void> {
  // Who holds it makes it.
  const journal = await store.open(world.name).catch(() => undefined)
  if (journal === undefined) return
  try {
    if ((await journal.load()) === undefined) await journal.commit(firstSnapshot(world))
  } finally {
    await journal.close({ wakeAtMs: 0 })
  }
}
