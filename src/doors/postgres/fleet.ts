import * as standardComponents from '../../../components/index.ts'
import { standardSystems } from '../../../systems/index.ts'
import { Host } from '../../engine/effects/host.ts'
import { Worker } from '../../engine/fleet/worker.ts'
import type { EventsByType, RunnerEvent } from '../../engine/loop/events.ts'
import { realClock } from '../../engine/loop/clock.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import { isLasting } from '../../stores/postgres/errors.ts'
import { firstSnapshot } from '../../engine/loop/journal-writer.ts'
import { FleetWorlds } from '../../runtime/worlds/fleet-worlds.ts'
import type { NamedWorld } from '../../runtime/worlds/named-world.ts'
import type { Dispatcher, QueuedSession } from '../../stores/postgres/dispatcher.ts'
import type { FleetTotals, PostgresStore, WorkerInfo } from '../../stores/postgres/port.ts'
import { postgresStore, type PostgresStoreOptions } from '../../stores/postgres/postgres.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { shortly } from '../../world/known-options.ts'
import { didYouMean } from '../../world/near-names.ts'
import { filledText, refuseMisfit } from '../../world/option-shapes.ts'
import type { World } from '../../world/world.ts'
import {
  checkedWork,
  checkFleet,
  fleetDefaults,
  type FleetOptions,
  type FleetWorkerOptions,
  hostOptionsOf,
} from './fleet-options.ts'
import { abilitiesText, kindOf, PostgresBoard } from './postgres-board.ts'
import { postgresDispatcher } from './postgres-dispatcher.ts'

/** Drives worlds of a fleet that come to it. */
export interface FleetWorker {
  /** Its id in the list of workers. */
  readonly id: number
  readonly holds: { readonly worlds: number; readonly sessions: number }
  /**
   * Calls a listener for events of the worlds that it drives, as they happen here, or of all types (`*`); those of sessions have a
   * `path`. `world-unfit`: no worker could drive a world for a minute. Returns a function that ends it.
   */
  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  /** What it does, and what the fleet does. @throws `store-failed` */
  metrics(): Promise<WorkerMetrics>
  /** Why it drives nothing now; `undefined`: it is alive. */
  problem(): Promise<string | undefined>
  /**
   * Lets go of all that it holds, which goes on elsewhere, and leaves the fleet. Tools of class `once` may end what they have begun.
   * @param options `onceMs`: for how many milliseconds. @default 30000
   */
  stop(options?: { readonly onceMs?: number }): Promise<void>
}

/** A worker's numbers, and those of its fleet. Counts begin with the worker. */
export interface WorkerMetrics extends FleetTotals {
  /** What this worker holds. */
  readonly worldsHeld: number
  readonly sessionsHeld: number
  /** Commits of worlds that it has written. */
  readonly commits: number
  /** How often a world or session was taken from it, so that its commit was refused. */
  readonly fenced: number
  /** Worlds and sessions that it took over from workers that had died. */
  readonly recovered: number
}

/** How a fleet is doing. */
export interface FleetStatus {
  readonly workers: readonly WorkerInfo[]
  /** Sessions with a worker, and behind them those in line. */
  readonly sessions: readonly QueuedSession[]
  readonly letters: { readonly waiting: number; readonly oldestMs: number }
}

/** Worlds in a database that any number of processes drive together. */
export interface Fleet {
  /** As it was given. It may hold a password. */
  readonly database: string
  /** A world by its name, as `worlds(store, …).world(name)` gives it. It need not exist, and holds nothing here. */
  world(name: string): NamedWorld
  /** Has the database a world of that name, or letters for it? Makes none. @throws `store-failed` */
  exists(name: string): Promise<boolean>
  /** Makes this process one of those that drive the worlds. */
  work(options?: FleetWorkerOptions): Promise<FleetWorker>
  /** Who works, and what waits. */
  status(): Promise<FleetStatus>
  /** The store of this process, to read and to remove worlds. */
  readonly store: PostgresStore
  /** Ends what waits here, and stops the workers of this process. The worlds go on elsewhere. */
  close(): Promise<void>
}

/**
 * Describes worlds that run on many machines: the same in every process, but that workers may have different tools and models. It
 * connects when it is first used.
 * @throws `invalid-argument`, `config-invalid`
 */
export function defineFleet(options: FleetOptions): Fleet {
  checkFleet(options)
  // Refused here, not by the first worker.
  new Host(hostOptionsOf(options)).close()
  return new PostgresFleet(options)
}

class PostgresFleet implements Fleet {
  readonly #options: FleetOptions
  readonly database: string
  readonly store: PostgresStore
  readonly #named: FleetWorlds
  readonly #workers = new Set<FleetWorker>()
  /** To look at the sessions. */
  #looking: Dispatcher | undefined

  constructor(options: FleetOptions) {
    this.#options = options
    this.database = options.database
    this.store = this.#newStore('')
    this.#named = new FleetWorlds({
      store: this.store,
      clock: realClock,
      known: this.#known,
      make: (name) => this.#made(name),
      place: (world) => this.#place(world),
      agentOf: options.agentOf,
    })
  }

  world(name: string): NamedWorld {
    refuseMisfit('fleet.world', 'name', name, filledText)
    this.#makerOf(name)
    return this.#named.world(name)
  }

  async exists(name: string): Promise<boolean> {
    refuseMisfit('fleet.exists', 'name', name, filledText)
    this.#makerOf(name)
    return this.#named.exists(name)
  }

  async work(options: FleetWorkerOptions = {}): Promise<FleetWorker> {
    const { failed, note, sessions, unfit, worlds } = checkedWork(options)
    const store = this.#newStore(note)
    const { agentOf, idleMs = fleetDefaults.idleMs, onToolChange, record } = this.#options
    const dispatcher = this.#dispatcherOver(store)
    const board = this.#boardOver(store, dispatcher, unfit)
    const host = new Host(hostOptionsOf(this.#options), { fleet: board })
    const worker = new Worker({
      store,
      board,
      host,
      known: this.#known,
      dropsTools: onToolChange !== undefined,
      record,
      agentOf,
      idleMs,
      unfit,
      failed: (error) => {
        const isOver = isLasting(error)
        if (isOver) {
          over = thrownMessage(error)
          void made.stop({ onceMs: 0 })
        }
        failed(error instanceof Error ? error : new Error(String(error)), isOver)
      },
      make: (name) => this.#made(name),
      maxSessions: sessions,
      maxWorlds: worlds,
    })
    const id = await store.enter(abilitiesText({ worlds: Object.keys(this.#options.worlds), ...host.abilities }))
    worker.start()
    const stop = async (onceMs: number): Promise<void> => {
      this.#workers.delete(made)
      await worker.stop(onceMs)
      host.close()
      await dispatcher.close()
      await store.close()
    }
    let stopping: Promise<void> | undefined
    let over: string | undefined
    const made: FleetWorker = {
      id,
      get holds() {
        return worker.holds
      },
      metrics: async () => {
        const { sessions: sessionsHeld, worlds: worldsHeld } = worker.holds
        const [totals, counts] = await Promise.all([store.totals(), dispatcher.counts()])
        return { ...totals, ...counts, worldsHeld, sessionsHeld, commits: store.commits, ...worker.counts }
      },
      on: (type: string, listener: (event: never) => unknown) => worker.on(type, listener),
      problem: async () => over ?? problemOf(store, id),
      stop: ({ onceMs = fleetDefaults.onceMs } = {}) => (stopping ??= stop(onceMs)),
    }
    this.#workers.add(made)
    return made
  }

  async status(): Promise<FleetStatus> {
    const [workers, sessions, totals] = await Promise.all([
      this.store.workers(),
      (this.#looking ??= this.#dispatcherOver(this.store)).list(),
      this.store.totals(),
    ])
    return { workers, sessions, letters: { waiting: totals.lettersWaiting, oldestMs: totals.oldestLetterMs } }
  }

  async close(): Promise<void> {
    await this.#named.close()
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
    await this.#looking?.close()
    await this.store.close()
  }

  get #known() {
    const { components = [], systems = standardSystems() } = this.#options
    const own = Symbol.iterator in components ? [...components] : Object.values(components)
    return { systems, components: [...Object.values(standardComponents), ...own] as Component[] }
  }

  #newStore(note: string): PostgresStore {
    const { database, leaseMs = fleetDefaults.leaseMs, schema = fleetDefaults.schema } = this.#options
    return postgresStore({ database, leaseMs, schema, note } satisfies PostgresStoreOptions)
  }

  #dispatcherOver(store: PostgresStore): Dispatcher {
    const { database, dispatcher = postgresDispatcher(), schema = fleetDefaults.schema } = this.#options
    return dispatcher.open({ store, database, schema })
  }

  #boardOver(store: PostgresStore, dispatcher: Dispatcher, unfit: FleetWorkerOptions['unfit']): PostgresBoard {
    const { maxSessions = fleetDefaults.maxSessions, tenantOf = folderOf } = this.#options
    const { maxSessionsPerTenant = maxSessions } = this.#options
    const quarantined = (world: string, _: string, strikes: number): void => {
      const what = `${strikes} workers in a row have died while they held it. It is driven no more; entia worlds release frees it.`
      unfit?.(world, undefined, what)
    }
    const kinds = Object.keys(this.#options.worlds)
    return new PostgresBoard({ store, dispatcher, kinds, maxSessions, maxSessionsPerTenant, tenantOf, quarantined })
  }

  async #place(world: World): Promise<void> {
    const { isBusy, snapshot } = firstSnapshot(world)
    const placement = { world: world.name, root: world.name, ...snapshot, isBusy }
    await this.store.transaction((client) => this.store.place(placement, client))
  }

  #made(name: string): World {
    return this.#makerOf(name)(name)
  }

  #makerOf(name: string): (name: string) => World {
    const { worlds } = this.#options
    const kind = kindOf(name)
    const make = Object.hasOwn(worlds, kind) ? worlds[kind] : undefined
    if (make !== undefined) return make
    const known = Object.keys(worlds)
    const what = `fleet.world: there are no worlds '${kind}', got the name ${shortly(name)}.${didYouMean(kind, known)}`
    throw new EntiaError('invalid-argument', `${what} The fleet has: ${known.join(', ')}.`, { world: name })
  }
}

/** The worker goes on by itself once the database answers again. */
async function problemOf(store: PostgresStore, id: number): Promise<string | undefined> {
  try {
    const self = (await store.workers()).find((worker) => worker.id === id)
    return self?.isAlive === true ? undefined : 'The other workers think it dead, and take over what it holds.'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function folderOf(world: string): string {
  const end = world.lastIndexOf('/')
  return end === -1 ? '' : world.slice(0, end)
}
