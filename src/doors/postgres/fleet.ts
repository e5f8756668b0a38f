import * as standardComponents from '../../../components/index.ts'
import { standardSystems } from '../../../systems/index.ts'
import { Host } from '../../engine/effects/host.ts'
import { realClock } from '../../engine/loop/clock.ts'
import { firstSnapshot } from '../../engine/loop/journal-writer.ts'
import { FleetWorlds } from '../../runtime/agents/fleet-worlds.ts'
import type { Agent } from '../../runtime/agents/agent-handle.ts'
import { databaseOf, DatabaseList } from '../../stores/postgres/database-list.ts'
import type { Dispatcher, QueuedSession } from '../../stores/postgres/dispatcher.ts'
import type { PostgresStore, WorkerInfo } from '../../stores/postgres/port.ts'
import { checkedPlace } from '../../stores/postgres/postgres.ts'
import { PostgresWorlds } from '../../stores/postgres/postgres-store.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'
import { didYouMean } from '../../base/near-names.ts'
import { filledText, refuseMisfit } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { addressesOf, directOf } from './addresses.ts'
import {
  checkedWork,
  checkFleet,
  fleetDefaults,
  type FleetOptions,
  type FleetWorkerOptions,
  hostOptionsOf,
} from './fleet-options.ts'
import { type FleetWorker, startWorker } from './fleet-worker.ts'
import { kindOf } from './postgres-board.ts'
import { type FleetDispatcher, postgresDispatcher } from './postgres-dispatcher.ts'

/** How a fleet is doing. */
export interface FleetStatus {
  readonly workers: readonly WorkerInfo[]
  /** Sessions with a worker, and behind them those in line. */
  readonly sessions: readonly QueuedSession[]
  readonly letters: { readonly waiting: number; readonly oldestMs: number }
}

/** Worlds in a database that any number of processes drive together. */
export interface Fleet {
  /** As it was given. It may hold passwords. */
  readonly database: string | readonly string[]
  /** The agent of the world of that name, as `worlds(store, …).agent(name)` gives it. It need not exist, and holds nothing here. */
  agent(name: string): Agent
  /** Has the database a world of that name, or letters for it? Makes none. @throws `store-failed` */
  exists(name: string): Promise<boolean>
  /** Makes this process one of those that drive the worlds. */
  work(options?: FleetWorkerOptions): Promise<FleetWorker>
  /** Who works, and what waits. */
  status(): Promise<FleetStatus>
  /** The store of this process, to read and to remove worlds, where there is one database. @throws `invalid-argument` */
  readonly store: PostgresStore
  /** The stores of this process, one for each database. */
  readonly stores: readonly PostgresStore[]
  /** The one that has a root world and its sessions, or would have. */
  storeOf(world: string): PostgresStore
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
  readonly database: string | readonly string[]
  readonly stores: readonly PostgresStore[]
  readonly #addresses: readonly string[]
  readonly #list: DatabaseList
  readonly #dispatcher: FleetDispatcher
  /** Of each database. */
  readonly #named: readonly FleetWorlds[]
  readonly #workers = new Set<FleetWorker>()
  /** To look at the sessions, one for each database. */
  #looking: readonly Dispatcher[] | undefined

  constructor(options: FleetOptions) {
    this.#options = options
    this.database = options.database
    this.#addresses = addressesOf(options)
    this.#dispatcher = options.dispatcher ?? postgresDispatcher()
    this.#list = new DatabaseList(options.schema ?? fleetDefaults.schema, this.#addresses.length)
    this.stores = this.#newStores('')
    this.#named = this.stores.map((store) => {
      const place = (world: World): Promise<void> => placeIn(store, world)
      const make = (name: string): World => this.#made(name)
      return new FleetWorlds({ store, clock: realClock, known: this.#known, make, place, agentOf: options.agentOf })
    })
  }

  get store(): PostgresStore {
    const [store] = this.stores
    if (store !== undefined && this.stores.length === 1) return store
    throw new EntiaError(
      'invalid-argument',
      `fleet.store: the fleet has ${this.stores.length} databases. fleet.storeOf(name) has the store of a root world, fleet.stores all of them.`,
    )
  }

  storeOf(world: string): PostgresStore {
    return this.stores[this.#at(world)] as PostgresStore
  }

  agent(name: string): Agent {
    refuseMisfit('fleet.agent', 'name', name, filledText)
    this.#makerOf(name)
    return this.#namedIn(name).agent(name)
  }

  async exists(name: string): Promise<boolean> {
    refuseMisfit('fleet.exists', 'name', name, filledText)
    this.#makerOf(name)
    return this.#namedIn(name).exists(name)
  }

  async work(options: FleetWorkerOptions = {}): Promise<FleetWorker> {
    const { note, ...rest } = checkedWork(options)
    const { maxSessions = fleetDefaults.maxSessions, tenantOf = folderOf } = this.#options
    const stores = this.#newStores(note)
    const worker = await startWorker({
      ...rest,
      stores,
      dispatchers: this.#dispatchersOver(stores),
      dispatcher: this.#dispatcher.name,
      at: (root) => this.#at(root),
      hostOptions: hostOptionsOf(this.#options),
      known: this.#known,
      record: this.#options.record,
      dropsTools: this.#options.onToolChange !== undefined,
      agentOf: this.#options.agentOf,
      idleMs: this.#options.idleMs ?? fleetDefaults.idleMs,
      kinds: Object.keys(this.#options.worlds),
      make: (name) => this.#made(name),
      maxSessions,
      maxSessionsPerTenant: this.#options.maxSessionsPerTenant ?? maxSessions,
      tenantOf,
      onceMs: fleetDefaults.onceMs,
      stopped: () => this.#workers.delete(worker),
    })
    this.#workers.add(worker)
    return worker
  }

  async status(): Promise<FleetStatus> {
    const looking = (this.#looking ??= this.#dispatchersOver(this.stores))
    const each = await Promise.all(
      this.stores.map((store, at) => Promise.all([store.workers(), looking[at]?.list() ?? [], store.totals()])),
    )
    const totals = each.map(([, , total]) => total)
    return {
      workers: each.flatMap(([workers]) => workers),
      sessions: each.flatMap(([, sessions]) => sessions),
      letters: {
        waiting: totals.reduce((sum, { lettersWaiting }) => sum + lettersWaiting, 0),
        oldestMs: Math.max(...totals.map(({ oldestLetterMs }) => oldestLetterMs)),
      },
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#named.map((named) => named.close()))
    await Promise.all([...this.#workers].map((worker) => worker.stop()))
    await Promise.all((this.#looking ?? []).map((dispatcher) => dispatcher.close()))
    await Promise.all(this.stores.map((store) => store.close()))
  }

  get #known() {
    const { components = [], systems = standardSystems() } = this.#options
    const own = Symbol.iterator in components ? [...components] : Object.values(components)
    return { systems, components: [...Object.values(standardComponents), ...own] as Component[] }
  }

  #newStores(note: string): readonly PostgresStore[] {
    const { leaseMs = fleetDefaults.leaseMs, maxConnections, schema = fleetDefaults.schema } = this.#options
    const list = this.#list
    return this.#addresses.map((database, at) => {
      const place = checkedPlace({ database, direct: this.#direct(at), leaseMs, maxConnections, schema, note })
      return new PostgresWorlds({ ...place, among: { list, at } })
    })
  }

  #dispatchersOver(stores: readonly PostgresStore[]): readonly Dispatcher[] {
    const { schema = fleetDefaults.schema } = this.#options
    return stores.map((store, at) => {
      const place = { store, database: this.#addresses[at] ?? '', schema }
      const direct = this.#direct(at)
      return this.#dispatcher.open(direct === undefined ? place : { ...place, direct })
    })
  }

  #direct(at: number): string | undefined {
    return directOf(this.#options.direct)?.[at]
  }

  /** Which database a root world is in. */
  #at(root: string): number {
    return databaseOf(root, this.#addresses.length)
  }

  #namedIn(root: string): FleetWorlds {
    return this.#named[this.#at(root)] as FleetWorlds
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
    const what = `fleet.agent: there are no worlds '${kind}', got the name ${shortly(name)}.${didYouMean(kind, known)}`
    throw new EntiaError('invalid-argument', `${what} The fleet has: ${known.join(', ')}.`, { world: name })
  }
}

async function placeIn(store: PostgresStore, world: World): Promise<void> {
  const { isBusy, snapshot } = firstSnapshot(world)
  const placement = { world: world.name, root: world.name, ...snapshot, isBusy }
  await store.transaction((client) => store.place(placement, client))
}

function folderOf(world: string): string {
  const end = world.lastIndexOf('/')
  return end === -1 ? '' : world.slice(0, end)
}
