import type { Component, Entity } from '../../world/component.ts'
import type { System, World } from '../../world/world.ts'
import type { SessionFleet } from '../../engine/children/session-fleet.ts'
import { Host } from '../../engine/effects/host.ts'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import { type Held, Worker } from '../../engine/fleet/worker.ts'
import type { EventsByType, RunnerEvent } from '../../engine/loop/events.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { keptUntil } from '../../stores/postgres/connections.ts'
import { isLasting } from '../../stores/postgres/errors.ts'
import type { Dispatcher } from '../../stores/postgres/dispatcher.ts'
import type { FleetTotals, PostgresStore } from '../../stores/postgres/port.ts'
import type { FleetWorkerOptions } from './fleet-options.ts'
import { abilitiesIn, abilitiesText } from './known-workers.ts'
import { PostgresBoard } from './postgres-board.ts'

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

/** What a worker is made of, with its options. */
export interface WorkerStart extends Required<Pick<FleetWorkerOptions, 'failed' | 'sessions' | 'worlds'>> {
  readonly unfit: FleetWorkerOptions['unfit']
  /** Of each database. */
  readonly stores: readonly PostgresStore[]
  readonly dispatchers: readonly Dispatcher[]
  /** The name of all of them. */
  readonly dispatcher: string
  /** Which of them has a root world. */
  readonly at: (root: string) => number
  readonly hostOptions: HostOptions
  readonly known: { readonly components: readonly Component[]; readonly systems: readonly System[] }
  readonly record: boolean | undefined
  readonly dropsTools: boolean
  readonly agentOf: ((world: World) => Entity) | undefined
  readonly idleMs: number
  readonly onceMs: number
  readonly kinds: readonly string[]
  readonly make: (name: string) => World
  readonly maxSessions: number
  readonly maxSessionsPerTenant: number
  readonly tenantOf: (root: string) => string
  readonly stopped: () => void
}

/**
 * A worker for each database, on one Host: what one database keeps waiting holds up no other, and what one holds takes its place
 * in the room of all.
 */
export async function startWorker(start: WorkerStart): Promise<FleetWorker> {
  const { at, dispatcher, dispatchers, kinds, stores } = start
  const boards = stores.map((store, index) => boardOver(store, index, start))
  const host = new Host(start.hostOptions, { fleet: overAll(boards, at) })
  const workers: Worker[] = boards.map((board, index) => {
    const others = (): readonly Worker[] => workers.filter((_, other) => other !== index)
    return new Worker({
      ...start,
      store: stores[index] as PostgresStore,
      board,
      host,
      beside: () => heldBy(others()),
      freed: () => others().forEach((other) => other.look()),
      isFurther: index > 0,
      isToldOfLetters: true,
      maxWorlds: start.worlds,
      maxSessions: start.sessions,
      failed: (error) => made.failed(error),
    })
  })
  const said = abilitiesText({ worlds: [...kinds], dispatcher, ...host.abilities })
  const ids = await Promise.all(stores.map((store) => store.enter(said)))
  try {
    // Of two that start at once each has entered before it looks.
    await keptUntil(Promise.all(stores.map((store, each) => assertOneQueue(store, dispatchers[each], dispatcher))))
  } catch (error) {
    host.close()
    await Promise.all(dispatchers.map((each) => each.close()))
    await Promise.all(stores.map((store) => store.close()))
    throw error
  }
  const made = new StartedWorker(start, workers, ids, host)
  for (const worker of workers) worker.start()
  return made
}

/** A session in one queue is not found in another. @throws `config-invalid` */
async function assertOneQueue(store: PostgresStore, queue: Dispatcher | undefined, dispatcher: string): Promise<void> {
  const { workers } = await store.peers.state()
  const others = workers.flatMap(({ can }) => abilitiesIn(can).dispatcher ?? []).filter((name) => name !== dispatcher)
  const [other] = others
  if (other !== undefined) {
    throw new EntiaError(
      'config-invalid',
      `fleet.work: ${others.length} of the fleet's workers that are alive have the dispatcher '${other}', and this one has '${dispatcher}': ` +
        `sessions in one queue are not found in the other. Give every process the same 'dispatcher', or end those workers first.`,
      { dispatcher, other },
    )
  }
  if (queue === store.line) return
  // A package that is missing, or rights, are found out now.
  await queue?.held()
  const { length } = await store.line.list()
  if (length === 0) return
  throw new EntiaError(
    'config-invalid',
    `fleet.work: ${length} sessions of the fleet are in the queue of 'postgres', and this worker has the dispatcher '${dispatcher}', ` +
      `which does not find them. Let workers without the option 'dispatcher' end them first: fleet.status() shows them.`,
    { dispatcher, sessions: length },
  )
}

/** Speaks for the workers of a process, of which each is in one database. */
class StartedWorker implements FleetWorker {
  readonly #start: WorkerStart
  readonly #workers: readonly Worker[]
  readonly #ids: readonly number[]
  readonly #host: Host
  #over: string | undefined
  #stopping: Promise<void> | undefined

  constructor(start: WorkerStart, workers: readonly Worker[], ids: readonly number[], host: Host) {
    this.#start = start
    this.#workers = workers
    this.#ids = ids
    this.#host = host
  }

  get id(): number {
    return this.#ids[0] ?? 0
  }

  get holds() {
    const holds = this.#workers.map((worker) => worker.holds)
    return { worlds: sumOf(holds, 'worlds'), sessions: sumOf(holds, 'sessions') }
  }

  on(type: string, listener: (event: never) => unknown): () => void {
    const ends = this.#workers.map((worker) => worker.on(type, listener))
    return () => ends.forEach((end) => end())
  }

  async metrics(): Promise<WorkerMetrics> {
    const { dispatchers, stores } = this.#start
    const totals = await Promise.all(
      stores.map(async (store, at) => {
        const [held, sessions] = await Promise.all([store.totals(), dispatchers[at]?.counts()])
        return { sessionsRunning: 0, sessionsWaiting: 0, ...held, ...sessions }
      }),
    )
    const counts = this.#workers.map((worker) => worker.counts)
    return {
      ...totalsOf(totals),
      worldsHeld: this.holds.worlds,
      sessionsHeld: this.holds.sessions,
      commits: sumOf(stores, 'commits'),
      fenced: sumOf(counts, 'fenced'),
      recovered: sumOf(counts, 'recovered'),
    }
  }

  async problem(): Promise<string | undefined> {
    if (this.#over !== undefined) return this.#over
    const { stores } = this.#start
    const problems = await Promise.all(stores.map((store, index) => problemOf(store, this.#ids[index] ?? 0)))
    return problems.find((problem) => problem !== undefined)
  }

  stop({ onceMs = this.#start.onceMs }: { readonly onceMs?: number } = {}): Promise<void> {
    this.#stopping ??= this.#stop(onceMs)
    return this.#stopping
  }

  /** The database cannot be used, now or ever. */
  failed(error: unknown): void {
    const isOver = isLasting(error)
    if (isOver) {
      this.#over = thrownMessage(error)
      void this.stop({ onceMs: 0 })
    }
    this.#start.failed(error instanceof Error ? error : new Error(String(error)), isOver)
  }

  async #stop(onceMs: number): Promise<void> {
    this.#start.stopped()
    await Promise.all(this.#workers.map((worker) => worker.stop(onceMs)))
    this.#host.close()
    await Promise.all(this.#start.dispatchers.map((dispatcher) => dispatcher.close()))
    await Promise.all(this.#start.stores.map((store) => store.close()))
  }
}

function boardOver(store: PostgresStore, index: number, start: WorkerStart): PostgresBoard {
  const { dispatchers, kinds, maxSessions, maxSessionsPerTenant, stores, tenantOf, unfit } = start
  // Of what cannot be divided, the first ones have one more.
  const partOf = (whole: number): number => Math.floor((whole + stores.length - 1 - index) / stores.length)
  return new PostgresBoard({
    store,
    dispatcher: dispatchers[index] as Dispatcher,
    kinds,
    maxSessions: partOf(maxSessions),
    maxSessionsPerTenant: partOf(maxSessionsPerTenant),
    tenantOf,
    quarantined: (world, _, strikes) => {
      const what = `${strikes} workers in a row have died while they held it. It is driven no more; entia worlds release frees it.`
      unfit?.(world, undefined, what)
    },
  })
}

/** What concerns a root is done where the root is. */
function overAll(boards: readonly PostgresBoard[], at: (root: string) => number): SessionFleet {
  const of = ({ root }: { readonly root: string }): PostgresBoard => boards[at(root)] as PostgresBoard
  return {
    launch: (order, world, epoch) => of(order).launch(order, world, epoch),
    withdraw: (order) => of(order).withdraw(order),
    position: (order) => of(order).position(order),
    post: (letter) => of(letter).post(letter),
    pause: async (provider, forMs) => {
      await Promise.all(boards.map((board) => board.pause(provider, forMs)))
    },
  }
}

function heldBy(workers: readonly Worker[]): Held {
  const held = workers.map((worker) => worker.holdsOfRoom)
  return { running: sumOf(held, 'running'), worlds: sumOf(held, 'worlds') }
}

/** Each worker is in every database. */
function totalsOf(totals: readonly FleetTotals[]): FleetTotals {
  return {
    workersAlive: Math.max(...totals.map(({ workersAlive }) => workersAlive)),
    sessionsRunning: sumOf(totals, 'sessionsRunning'),
    sessionsWaiting: sumOf(totals, 'sessionsWaiting'),
    worldsQuarantined: sumOf(totals, 'worldsQuarantined'),
    lettersWaiting: sumOf(totals, 'lettersWaiting'),
    oldestLetterMs: Math.max(...totals.map(({ oldestLetterMs }) => oldestLetterMs)),
  }
}

function sumOf<Key extends string>(each: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return each.reduce((sum, one) => sum + one[key], 0)
}

/** The worker goes on by itself once the database answers again. */
async function problemOf(store: PostgresStore, id: number): Promise<string | undefined> {
  try {
    const self = (await store.workers()).find((worker) => worker.id === id)
    return self?.isAlive === true ? undefined : 'The other workers think it dead, and take over what it holds.'
  } catch (error) {
    return thrownMessage(error)
  }
}
