import { thrownMessage } from '../../base/thrown-message.ts'
import { tokensOf } from '../../world/restore.ts'
import * as standardComponents from '../../../components/index.ts'
import { type HostOptions, hostOptionNames } from '../../engine/effects/host-options.ts'
import { Host } from '../../engine/effects/host.ts'
import { openApprovals } from '../../engine/children/open-approvals.ts'
import type { EventsByType, RunnerEvent } from '../../engine/loop/events.ts'
import { onlyAgent } from '../../engine/loop/only-agent.ts'
import { Runner } from '../../engine/loop/runner.ts'
import { openStored } from '../../engine/loop/stored-world.ts'
import type { Store } from '../../stores/port.ts'
import { standardSystems } from '../../../systems/index.ts'
import type { Component, Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { refuseUnknownOptions, shortly } from '../../base/known-options.ts'
import {
  callback,
  count,
  countFromZero,
  filledText,
  flag,
  objectWith,
  refuseMisfit,
  refuseMisfits,
} from '../../base/option-shapes.ts'
import { type System, World } from '../../world/world.ts'
import { isInStore, type Agent, agentHandle } from './agent-handle.ts'
import { type Opened, OpenWorlds } from './open-worlds.ts'

/** Besides these, the options of the Host that all worlds share: models, tools, prices … */
export interface WorldsOptions extends HostOptions {
  /** Makes the world of a name that the store does not have. Its name has to be that name. */
  readonly make: (name: string) => World
  /** The systems of all worlds. @default standardSystems() */
  readonly systems?: readonly System[]
  /** Components besides the standard ones that worlds have. @default none */
  readonly components?: Iterable<Component> | Readonly<Record<string, unknown>>
  /** The agent that is spoken to. @default the only one of the world */
  readonly agent?: (world: World) => Entity
  /** Milliseconds without work or messages after which a world is closed. @default 60000 */
  readonly idleMs?: number
  /** Most worlds that are open at once; the next ones wait for a place. @default 200 */
  readonly maxOpen?: number
  /** Keep all ticks in the store, to replay runs. @default false */
  readonly record?: boolean
}

/** What holds where the options say nothing. */
const defaults = { idleMs: 60_000, maxOpen: 200 } as const

/** Many worlds in one store, opened when they are spoken to. */
export interface Worlds {
  agent(name: string): Agent
  /** Has the store a world of that name, or is it being made? Makes and opens none. @throws what the store's `list()` throws */
  exists(name: string): Promise<boolean>
  /** Calls a listener for the events of all worlds, sessions' included. Returns a function that ends it. */
  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: '*', listener: (event: RunnerEvent) => unknown): () => void
  /** How many are open, opening or closing. */
  readonly openCount: number
  /** Resolves once the worlds that had work in flight are open. @throws what the store's `list()` throws */
  ready(): Promise<void>
  /** Closes all worlds: their work goes on at the next start. The store stays open. */
  close(): Promise<void>
}

/**
 * Worlds by name: one is made or opened when it is spoken to, and closed when it is idle. Worlds that had work in flight when
 * they were last open are opened first. All share one Host.
 *
 * @throws `invalid-argument`
 */
export function worlds(store: Store, options: WorldsOptions): Worlds {
  return new WorldsOfStore(store, options)
}

/** A listener of a program: of one world, or of all. It is given to each Runner that is opened. */
interface Listening {
  readonly name?: string
  readonly type: string
  readonly listener: (event: never) => unknown
  /** What ends it at the Runners that are open. */
  readonly ends: Set<() => void>
  /** Called when all worlds are closed. */
  readonly ended?: () => void
}

const ownOptionNames = ['make', 'systems', 'components', 'agent', 'idleMs', 'maxOpen', 'record'] as const

class WorldsOfStore implements Worlds {
  readonly #store: Store
  readonly #options: WorldsOptions
  readonly #host: Host
  readonly #open: OpenWorlds
  readonly #listeners = new Set<Listening>()
  /** Worlds with work have been found, and have asked for a place. */
  readonly #found: Promise<void>
  #ready: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(store: Store, options: WorldsOptions) {
    refuseMisfit('worlds', 'store', store, objectWith('a store, such as sqliteStore({ folder })', 'open', 'list'))
    refuseUnknownOptions('worlds', options, [...ownOptionNames, ...hostOptionNames])
    refuseMisfit('worlds', 'make', options.make, callback)
    refuseMisfits('worlds', options, { agent: callback, idleMs: countFromZero, maxOpen: count, record: flag })
    const hostOptions = Object.entries(options).filter(([name]) => hostOptionNames.includes(name as never))
    this.#store = store
    this.#options = options
    this.#host = new Host(Object.fromEntries(hostOptions))
    const { idleMs = defaults.idleMs, maxOpen = defaults.maxOpen } = options
    this.#open = new OpenWorlds({
      host: this.#host,
      idleMs,
      maxOpen,
      open: (name, sleptMs) => this.#opened(name, sleptMs),
      failed: warn,
    })
    this.#found = this.#openBusy()
    // Each call that uses a world gets the error.
    this.#found.catch(() => undefined)
  }

  get openCount(): number {
    return this.#open.size
  }

  async ready(): Promise<void> {
    await this.#found
    await this.#ready
  }

  on(type: string, listener: (event: never) => unknown): () => void {
    return this.#listen({ type, listener, ends: new Set() })
  }

  #listen(listening: Listening): () => void {
    if (this.#isClosed) listening.ended?.()
    this.#listeners.add(listening)
    for (const runner of this.#open.runners()) listenTo(runner, listening)
    return () => {
      this.#listeners.delete(listening)
      for (const end of listening.ends) end()
    }
  }

  async close(): Promise<void> {
    await this.#open.close()
    this.#host.close()
    this.#isClosed = true
    for (const { ended } of this.#listeners) ended?.()
  }

  async exists(name: string): Promise<boolean> {
    refuseMisfit('worlds.exists', 'name', name, filledText)
    await this.#found
    return this.#open.has(name) || isInStore(this.#store, name)
  }

  agent(name: string): Agent {
    refuseMisfit('worlds.agent', 'name', name, filledText)
    return agentHandle(name, {
      use: (work) => this.#use(name, work),
      exists: () => this.exists(name),
      listen: (listener, ended) => this.#listen({ name, type: '*', listener, ends: new Set(), ended }),
      message: async (message, options) => {
        await this.#use(name, (runner, agent) => runner.message(agent, message, options))
      },
      approvals: () =>
        this.#use(name, (runner, agent) => [...openApprovals(runner.world), ...runner.subagents(agent).approvals()]),
      answer: async (input) => {
        await this.#use(name, (runner) => runner.post(input))
      },
      cancel: (reason) => this.#use(name, (runner, agent) => runner.cancel(agent, reason)),
      sessions: () => this.#use(name, (runner, agent) => runner.subagents(agent).list()),
    })
  }

  #use<T>(name: string, work: (runner: Runner, agent: Entity) => T | Promise<T>): Promise<T> {
    return this.#found.then(() => this.#open.use(name, (runner) => work(runner, this.#agentOf(runner.world))))
  }

  #agentOf(world: World): Entity {
    return this.#options.agent?.(world) ?? onlyAgent(world, 'worlds(store, { agent: (world) => … })')
  }

  async #opened(name: string, sleptMs: number): Promise<Opened> {
    const { make, components = [], record = false, systems = standardSystems() } = this.#options
    const opening = {
      host: this.#host,
      store: this.#store,
      record,
      name,
      systems,
      components: [...Object.values(standardComponents), ...tokensOf(components)],
      create: () => made(name, make(name)),
    }
    const held = await openStored(opening)
    let runner: Runner
    try {
      runner = new Runner(held.world, opening, { ...held, sleptMs })
    } catch (error) {
      await held.journal.close()
      throw error
    }
    for (const listening of this.#listeners) listenTo(runner, listening)
    try {
      const behindMs = this.#host.clock.now() - held.world.nowMs - sleptMs
      await runner.start()
      return { runner, behindMs }
    } catch (error) {
      await runner.stop()
      throw error
    }
  }

  /** Opens the worlds that had work in flight, ahead of all others. */
  async #openBusy(): Promise<void> {
    const known = await this.#store.list()
    // What another process has open goes on there.
    const busy = known.filter((info) => info.root === undefined && info.isBusy === true && info.heldBy === undefined)
    const opened = busy.map(({ name }) =>
      this.#open.use(name, () => undefined).catch((error: unknown) => warn(name, error)),
    )
    this.#ready = Promise.all(opened)
  }
}

function listenTo(runner: Runner, { ends, listener, name = runner.world.name, type }: Listening): void {
  if (name !== runner.world.name) return
  const end = runner.on(type as '*', listener as (event: RunnerEvent) => unknown)
  ends.add(end)
  runner.on('runner-stopped', ({ world }) => void (world === name && ends.delete(end)))
}

/** @throws `invalid-argument` */
function made(name: string, world: unknown): World {
  if (!(world instanceof World)) {
    throw new EntiaError('invalid-argument', `worlds: make('${name}') must return a World, got ${shortly(world)}.`)
  }
  if (world.name === name) return world
  const what = `worlds: make('${name}') returned a World named '${world.name}'.`
  throw new EntiaError('invalid-argument', `${what} Write new World({ name, systems }).`)
}

function warn(name: string, error: unknown): void {
  const why = thrownMessage(error)
  process.emitWarning(`World '${name}' has work to do and cannot be opened: ${why}`, 'EntiaWarning')
}
