import * as standardComponents from '../../../components/index.ts'
import { standardSystems } from '../../../systems/index.ts'
import { Host } from '../../engine/effects/host.ts'
import { type HostOptions, hostOptionNames, type ToolChangePolicy } from '../../engine/effects/host-options.ts'
import { Worker } from '../../engine/fleet/worker.ts'
import type { EventsByType, RunnerEvent } from '../../engine/loop/events.ts'
import { realClock } from '../../engine/loop/clock.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import { isLasting } from '../../stores/postgres/errors.ts'
import { firstSnapshot } from '../../engine/loop/journal-writer.ts'
import { FleetWorlds } from '../../runtime/worlds/fleet-worlds.ts'
import type { NamedWorld } from '../../runtime/worlds/named-world.ts'
import type { FleetTotals, LineInfo, PostgresStore, WorkerInfo } from '../../stores/postgres/port.ts'
import { postgresStore, type PostgresStoreOptions } from '../../stores/postgres/postgres.ts'
import type { Component, Entity } from '../../world/component.ts'
import { EntiaError, type EntiaErrorCode } from '../../world/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../../world/known-options.ts'
import { didYouMean } from '../../world/near-names.ts'
import {
  callback,
  count,
  countFromZero,
  filledText,
  flag,
  refuseMisfit,
  refuseMisfits,
  table,
  text,
} from '../../world/option-shapes.ts'
import type { System, World } from '../../world/world.ts'
import { abilitiesText, kindOf, PostgresBoard } from './postgres-board.ts'

/** Besides these, the options of the Host that each worker has: models, tools, prices … */
export interface FleetOptions extends Omit<HostOptions, 'clock' | 'maxSessions' | 'sessionPool'> {
  /** Where the database is: `postgres://user:password@host:5432/database`. */
  readonly database: string
  /**
   * Makes the worlds that the store does not have, by the first part of their names: `desk` makes `desk` and `desk/4711`. The
   * world has the name that it is given.
   */
  readonly worlds: Readonly<Record<string, (name: string) => World>>
  /** The systems of all worlds. @default standardSystems() */
  readonly systems?: readonly System[]
  /** Components besides the standard ones that worlds have. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  /** The agent that is spoken to. @default the only one of the world */
  readonly agentOf?: (world: World) => Entity
  /** Most sessions that run at once, on all workers together. @default 50 */
  readonly maxSessions?: number
  /** Whose a root world is. Each tenant gets its share of the sessions. @default what stands before the last `/` of its name */
  readonly tenantOf?: (world: string) => string
  /** Most sessions of one tenant that run at once. @default `maxSessions` */
  readonly maxSessionsPerTenant?: number
  /** Milliseconds without work or letters after which a world is parked. @default 30000 */
  readonly idleMs?: number
  /**
   * What happens to tools of saved agents that workers declare differently, or that no living worker has: as in one process.
   * Absent: changed declarations are replaced, and a world with a tool that no living worker has waits for one that has it.
   */
  readonly onToolChange?: ToolChangePolicy
  /** Keep all ticks in the database, to replay runs. @default false */
  readonly record?: boolean
  /** The schema of the tables. @default 'entia' */
  readonly schema?: string
  /** A worker that says nothing for so long is thought dead. @default 10000 */
  readonly leaseMs?: number
}

/** What holds where the options of a fleet say nothing. */
export const fleetDefaults = {
  maxSessions: 50,
  idleMs: 30_000,
  schema: 'entia',
  leaseMs: 10_000,
  sessionsPerWorker: 20,
  worldsPerWorker: 200,
  onceMs: 30_000,
} as const

/** Options of a worker. */
export interface FleetWorkerOptions {
  /** Most sessions that run in it at once. Those that wait for their own sessions or for people do not count. @default 20 */
  readonly sessions?: number
  /** Most root worlds that it holds at once. @default 200 */
  readonly worlds?: number
  /** What the list of workers says of it. @default '' */
  readonly note?: string
  /** A world cannot be driven here now. It is tried again after a while. */
  readonly unfit?: (world: string, code: EntiaErrorCode | undefined, message: string) => void
  /**
   * The worker cannot use the database. `isOver`: it never will, because rights or tables are missing, so it has stopped; otherwise
   * it tries again. @default a process warning with the code `ENTIA_WORKER_FAILED`
   */
  readonly failed?: (error: Error, isOver: boolean) => void
}

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
  readonly sessions: readonly LineInfo[]
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

const ownNames = [
  'agentOf',
  'components',
  'database',
  'idleMs',
  'leaseMs',
  'maxSessions',
  'maxSessionsPerTenant',
  'record',
  'schema',
  'systems',
  'tenantOf',
  'worlds',
]
const hostNames = hostOptionNames.filter((name) => !['clock', 'maxSessions', 'sessionPool'].includes(name))

/**
 * Describes worlds that run on many machines: the same in every process, but that workers may have different tools and models. It
 * connects when it is first used.
 * @throws `invalid-argument`, `config-invalid`
 */
export function defineFleet(options: FleetOptions): Fleet {
  refuseUnknownOptions('defineFleet', options, [...ownNames, ...hostNames])
  refuseMisfit('defineFleet', 'worlds', options.worlds, table)
  for (const [kind, make] of Object.entries(options.worlds))
    refuseMisfit('defineFleet', `worlds.${kind}`, make, callback)
  refuseMisfits('defineFleet', options, {
    agentOf: callback,
    idleMs: countFromZero,
    maxSessions: count,
    maxSessionsPerTenant: count,
    record: flag,
    tenantOf: callback,
  })
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
    const board = this.#boardOver(store, unfit)
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
        return { ...(await store.totals()), worldsHeld, sessionsHeld, commits: store.commits, ...worker.counts }
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
      this.store.line.list(),
      this.store.totals(),
    ])
    return { workers, sessions, letters: { waiting: totals.lettersWaiting, oldestMs: totals.oldestLetterMs } }
  }

  async close(): Promise<void> {
    await this.#named.close()
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
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

  #boardOver(store: PostgresStore, unfit: FleetWorkerOptions['unfit']): PostgresBoard {
    const { maxSessions = fleetDefaults.maxSessions, tenantOf = folderOf } = this.#options
    const { maxSessionsPerTenant = maxSessions } = this.#options
    const quarantined = (world: string, _: string, strikes: number): void => {
      const what = `${strikes} workers in a row have died while they held it. It is driven no more; entia worlds release frees it.`
      unfit?.(world, undefined, what)
    }
    const kinds = Object.keys(this.#options.worlds)
    return new PostgresBoard({ store, kinds, maxSessions, maxSessionsPerTenant, tenantOf, quarantined })
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

/** @throws `invalid-argument` */
function checkedWork(options: FleetWorkerOptions) {
  refuseUnknownOptions('fleet.work', options, ['failed', 'note', 'sessions', 'unfit', 'worlds'])
  refuseMisfits('fleet.work', options, {
    failed: callback,
    note: text,
    sessions: countFromZero,
    unfit: callback,
    worlds: countFromZero,
  })
  const { sessionsPerWorker, worldsPerWorker } = fleetDefaults
  const { failed = warnOfFailure, note = '', sessions = sessionsPerWorker, unfit, worlds = worldsPerWorker } = options
  return { failed, note, sessions, unfit, worlds }
}

function warnOfFailure(error: Error, isOver: boolean): void {
  const what = isOver ? 'It has stopped.' : 'It tries again.'
  process.emitWarning(`A worker of a fleet cannot use the database: ${error.message} ${what}`, {
    type: 'EntiaWarning',
    code: 'ENTIA_WORKER_FAILED',
    detail: 'Give fleet.work({ failed }) to hear of it.',
  })
}

function folderOf(world: string): string {
  const end = world.lastIndexOf('/')
  return end === -1 ? '' : world.slice(0, end)
}

function hostOptionsOf(options: FleetOptions): HostOptions {
  return Object.fromEntries(Object.entries(options).filter(([name]) => hostNames.includes(name as never)))
}
