import type { StandardInput } from '../../components/input.ts'
import type { UserMessage } from '../../components/message.ts'
import { SeenInputs } from '../../components/seen-inputs.ts'
import { canonical } from '../world/canonical.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Input, WorldEvent } from '../world/input.ts'
import { tokensOf } from '../world/restore.ts'
import type { World } from '../world/world.ts'
import { checkParts } from './check-parts.ts'
import type { EventsByType, RunnerEvent } from './events.ts'
import type { Host } from './host.ts'
import { Inbox, type Waiter } from './inbox.ts'
import { Keeper } from './keeper.ts'
import { Listeners } from './listeners.ts'
import { postedInput } from './posted-input.ts'
import { Pump } from './pump.ts'
import { defaultMaxInputsPerTick, hostOf, type OpenRunnerOptions, type RunnerOptions } from './runner-options.ts'
import { TickLoop } from './tick-loop.ts'

/** Counts since the Runner started. */
export interface RunnerStats {
  readonly ticks: number
  /** Outcomes that came too late, and inputs that came twice. */
  readonly dropped: number
  readonly inFlight: number
}

/** Drives one world on one host: tick → commit → start effects → sleep until the next input. */
export class Runner {
  readonly world: World
  readonly host: Host
  readonly #options: RunnerOptions
  readonly #listeners: Listeners
  readonly #inbox: Inbox
  readonly #pump: Pump
  #keeper: Keeper | undefined
  #told: readonly WorldEvent[] = []
  #loop: TickLoop | undefined
  #isStopped = false
  #dropped = 0

  constructor(world: World, options: RunnerOptions = {}) {
    this.world = world
    this.#options = options
    this.host = hostOf(options)
    this.#listeners = new Listeners(world.name)
    this.#inbox = new Inbox(options.maxInputsPerTick ?? defaultMaxInputsPerTick)
    this.#pump = new Pump(world, this.host, {
      post: (input) => this.#enter(input),
      tell: (event) => this.#listeners.tell(event),
      dropped: () => void this.#dropped++,
    })
  }

  /**
   * A Runner for the world of that name: as the store has it, or else made anew. It is not started.
   *
   * @throws `no-such-world`, `world-locked`, and what restoring throws
   */
  static async open(options: OpenRunnerOptions): Promise<Runner> {
    const { store, name, systems, components, create, record } = options
    const keeper = await Keeper.open(name, { store, record })
    try {
      const found = await keeper.restore({ systems, components: tokensOf(components) })
      const world = found?.world ?? create?.()
      if (world === undefined) {
        throw new EntiaError('no-such-world', `The store has no world '${name}'. Pass 'create', or check the name.`)
      }
      if (world.name !== name) {
        const expected = `expected a world named '${name}'`
        throw new EntiaError('invalid-argument', `Runner.open: ${expected}, 'create' made one named '${world.name}'.`)
      }
      const runner = new Runner(world, options)
      runner.#keeper = keeper
      runner.#told = found?.told ?? []
      if (found !== undefined) world.core.watch()
      return runner
    } catch (error) {
      await keeper.close()
      throw error
    }
  }

  get stats(): RunnerStats {
    return { ticks: this.#loop?.ticks ?? 0, dropped: this.#dropped, inFlight: this.#pump.inFlight }
  }

  /** Calls a listener for every event of a type, or of all (`*`). Gives a function that ends it. */
  on<K extends keyof EventsByType>(
    type: K,
    listener: (event: { readonly type: K } & EventsByType[K]) => unknown,
  ): () => void
  on(type: string, listener: (event: RunnerEvent) => unknown): () => void
  on(type: string, listener: (event: never) => unknown): () => void {
    return this.#listeners.on(type, listener)
  }

  /**
   * Takes the world up. From here on it is driven: it ticks whenever something comes in.
   *
   * @throws before anything has run: `missing-handler`, `unknown-provider`, `world-driven`, `world-exists`, `world-locked`
   */
  async start(): Promise<void> {
    if (this.#loop !== undefined || this.#isStopped) {
      throw new EntiaError('world-driven', `A Runner starts once; make a new one for world '${this.world.name}'.`)
    }
    checkParts(this.world, this.host)
    const { core } = this.world
    // Kept out of the store's snapshot, which would bring them in again after a crash.
    const early = this.#takeEarly()
    core.drive({
      name: 'a Runner',
      post: (input) => {
        const posted = postedInput(input)
        if (this.#loop === undefined) early.push(posted)
        else this.#enterPosted(posted)
      },
    })
    const written = core.unwatch()
    try {
      await this.#openStore()
    } catch (error) {
      core.drive(undefined)
      core.watch(written)
      for (const input of early) core.inbox.push(input)
      throw error
    }
    const { world, host } = this
    const { clock } = host
    this.#loop = new TickLoop({
      world,
      clock,
      inbox: this.#inbox,
      pump: this.#pump,
      listeners: this.#listeners,
      keeper: this.#keeper,
    })
    this.#inbox.remember(world.query(SeenInputs).flatMap((keeper) => world.read(keeper, SeenInputs)))
    this.#tellAgain()
    this.#listeners.on('input-dropped', () => void this.#dropped++)
    if (written !== undefined) this.#inbox.push(written)
    this.#enter({ kind: 'started', dateMs: clock.date(), retry: host.retryPolicies() })
    for (const input of early) this.#enterPosted(input)
    this.#pump.takeUp(this.#loop.offsetMs)
  }

  /** Resolves once nothing is in flight and nothing is due. @throws `system-failed`, `store-failed` if the Runner fails */
  async idle(): Promise<void> {
    await this.#running().idle()
  }

  /**
   * Puts an input in. Resolves once it is committed, or dropped because its id was seen before.
   *
   * @throws `invalid-input`, `not-json`; what the Runner fails with before that
   */
  async post(input: StandardInput | Input, { id }: { readonly id?: string } = {}): Promise<void> {
    this.#running()
    const stored = postedInput(input, id)
    if (this.#isRepeated(stored)) return
    await this.#committed((waiter) => this.#inbox.push(stored, waiter))
  }

  /** A person's message to an agent. Resolves once it is committed. */
  async message(agent: Entity, message: string | UserMessage, options: { readonly id?: string } = {}): Promise<void> {
    const content = [{ type: 'text' as const, text: message as string }]
    const said = typeof message === 'string' ? { role: 'user' as const, content } : message
    await this.post({ kind: 'message', agent, message: said }, options)
  }

  /** Stops what an agent has under way and ends its turn. Resolves once that is committed; then the work is aborted. */
  async cancel(agent: Entity, reason?: string): Promise<void> {
    await this.post({ kind: 'cancel', agent, ...(reason !== undefined && { reason }) })
  }

  /**
   * Changes the world at the next tick, as one recorded input. Resolves with what the function gives once that is committed.
   * If it throws, nothing has changed, and this rejects with the same.
   */
  async change<T>(change: (world: World) => T): Promise<T> {
    this.#running()
    const results: T[] = []
    const make = (world: World): void => {
      const result = change(world)
      if (result instanceof Promise) {
        result.catch(() => undefined)
        throw new EntiaError(
          'invalid-argument',
          'runner.change: the function has to be synchronous, it gave a promise.',
        )
      }
      results.push(result)
    }
    await this.#committed((waiter) => this.#inbox.pushChange(make, waiter))
    return results.at(-1) as T
  }

  /** Aborts all work without settling it, waits for a commit under way, and lets go of world and store. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return
    this.#isStopped = true
    this.#pump.stop()
    if (this.#options.host === undefined) this.host.close()
    await this.#loop?.halt()
    await this.#keeper?.close()
    for (const waiter of this.#inbox.drain()) waiter.reject(this.#refusal('was stopped before this was committed'))
    // A world whose last tick could not be committed is not the world any more: it stays closed.
    if (this.#loop === undefined || this.#loop.failure?.code === 'store-failed') return
    this.world.core.drive(undefined)
    this.world.core.watch()
  }

  async #openStore(): Promise<void> {
    const { store, record } = this.#options
    if (store === undefined) return
    const keeper = this.#keeper ?? (await Keeper.open(this.world.name, { store, record }))
    try {
      if (this.#keeper === undefined && (await keeper.isTaken())) {
        const advice = `Resume it with Runner.open({ store, name: '${this.world.name}', … }), or delete it from the store.`
        throw new EntiaError('world-exists', `The store has a world '${this.world.name}' already. ${advice}`)
      }
      await keeper.begin(this.world)
      if (this.#isStopped) throw this.#refusal('was stopped before it had started')
      this.#keeper = keeper
    } catch (error) {
      if (this.#keeper === undefined) await keeper.close()
      throw error
    }
  }

  /** What was posted before the start. What is no input is taken out, and refused. */
  #takeEarly(): Input[] {
    const { inbox } = this.world.core
    for (const [index, input] of inbox.entries()) {
      try {
        postedInput(input)
      } catch (error) {
        inbox.splice(index, 1)
        throw error
      }
    }
    return inbox.splice(0)
  }

  /** What the newest committed tick told may not have been heard before the last process ended. */
  #tellAgain(): void {
    const { name, tick } = this.world
    this.#told.forEach((event, index) => this.#listeners.tell({ ...event, world: name, tick, index }))
  }

  #running(): TickLoop {
    if (this.#loop?.failure !== undefined) throw this.#loop.failure
    if (this.#loop !== undefined && !this.#isStopped) return this.#loop
    throw this.#refusal(this.#isStopped ? 'was stopped' : 'is not running: call start() first')
  }

  #refusal(what: string): EntiaError {
    return new EntiaError('world-driven', `The Runner of world '${this.world.name}' ${what}.`)
  }

  async #committed(enter: (waiter: Waiter) => void): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      enter({ resolve, reject })
      this.#loop?.wake()
    })
  }

  /** Nobody waits for it: if the Runner is stopped before it is taken, it is in the world's inbox again. */
  #enterPosted(input: Input): void {
    const loop = this.#running()
    if (this.#isRepeated(input)) return
    const reject = (): void => {
      if (loop.failure === undefined) this.world.core.inbox.push(input)
    }
    this.#inbox.push(input, { resolve: () => undefined, reject })
    loop.wake()
  }

  /** Drops and counts what comes under an id for a second time. */
  #isRepeated({ id }: Input): boolean {
    if (typeof id !== 'string' || this.#inbox.isNew(id)) return false
    this.#dropped++
    return true
  }

  #enter(input: StandardInput | Input): void {
    if (this.#isStopped || this.#loop === undefined || this.#loop.failure !== undefined) return
    this.#inbox.push(canonical(input, () => 'an input') as Input)
    this.#loop.wake()
  }
}
