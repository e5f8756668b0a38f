import type { Host } from '../../engine/effects/host.ts'
import { Slots } from '../../engine/effects/slots.ts'
import { waitsUntil } from '../../engine/effects/waits-until.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import { EntiaError } from '../../base/entia-error.ts'

/** A world that was opened and started. */
export interface Opened {
  readonly runner: Runner
  /** World time is this much behind the clock. */
  readonly behindMs: number
}

export interface OpenWorldsOptions {
  readonly host: Host
  /** Milliseconds without work or messages after which a world is closed. */
  readonly idleMs: number
  /** Most worlds that are open at once. */
  readonly maxOpen: number
  /** Opens and starts a world. @param sleptMs world time that has passed since it was closed */
  readonly open: (name: string, sleptMs: number) => Promise<Opened>
  /** A world could not be opened at the instant that wakes it. */
  readonly failed: (name: string, error: unknown) => void
}

/** A world that goes on by itself within this time keeps its place, in milliseconds. */
const shortestRestMs = 1_000

/** A world that is open, or is being opened or closed. */
interface OpenWorld {
  readonly name: string
  readonly runner: Promise<Runner>
  /** The same once it is open. */
  opened?: Opened
  /** Calls that are using it now. */
  users: number
  /** Nothing of it is in flight, as far as is known. */
  isIdle: boolean
  cancelTimer?: () => void
  closing?: Promise<void>
}

/** The worlds that are open: each is opened by the first who uses it, and closed when it is idle or another needs its place. */
export class OpenWorlds {
  readonly #options: OpenWorldsOptions
  readonly #slots: Slots
  /** By name; the one that was used last is the last. */
  readonly #worlds = new Map<string, OpenWorld>()
  /** Closed worlds that an instant wakes: since when, and what ends the timer. */
  readonly #asleep = new Map<string, { readonly sinceMs: number; readonly cancel: () => void }>()
  /** Worlds that wait for a place. */
  #waiting = 0
  #isClosed = false

  constructor(options: OpenWorldsOptions) {
    this.#options = options
    this.#slots = new Slots(options.maxOpen)
  }

  get size(): number {
    return this.#worlds.size
  }

  /** Is it open, opening or closing? */
  has(name: string): boolean {
    return this.#worlds.has(name)
  }

  /** The Runners that are open now. */
  *runners(): Generator<Runner> {
    for (const { opened } of this.#worlds.values()) if (opened !== undefined) yield opened.runner
  }

  /** Calls a function with a world's Runner; the world stays open until what it returns has settled. */
  async use<T>(name: string, work: (runner: Runner) => T | Promise<T>): Promise<T> {
    const world = await this.#taken(name)
    try {
      return await work(await world.runner)
    } finally {
      world.users--
      if (world.users === 0) this.#leave(world)
    }
  }

  /** Closes all; nothing is opened any more. Resolves once every world is in the store. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { cancel } of this.#asleep.values()) cancel()
    await Promise.all([...this.#worlds.values()].map((world) => this.#close(world)))
  }

  /** The world, with one user more. */
  async #taken(name: string): Promise<OpenWorld> {
    for (;;) {
      if (this.#isClosed) throw new EntiaError('store-closed', 'worlds: it was closed. Call worlds(store, …) again.')
      const known = this.#worlds.get(name)
      if (known?.closing !== undefined) {
        await known.closing
        continue
      }
      const world = known ?? this.#opening(name)
      world.users++
      world.isIdle = false
      world.cancelTimer?.()
      this.#worlds.delete(name)
      this.#worlds.set(name, world)
      return world
    }
  }

  #opening(name: string): OpenWorld {
    const place = Promise.withResolvers<() => void>()
    let hasPlace = false
    this.#slots.take((leave) => {
      hasPlace = true
      place.resolve(leave)
    })
    if (!hasPlace) {
      this.#waiting++
      void place.promise.then(() => this.#waiting--)
      this.#makeRoom()
    }
    const opened = this.#open(name, place.promise)
    const world: OpenWorld = { name, runner: opened.then(({ runner }) => runner), users: 0, isIdle: false }
    opened.then(
      (all) => this.#opened(world, all),
      // The calls that use it get the error; the next call opens it again.
      () => this.#worlds.delete(name),
    )
    return world
  }

  async #open(name: string, place: Promise<() => void>): Promise<Opened> {
    const leave = await place
    try {
      if (this.#isClosed)
        throw new EntiaError('store-closed', `worlds: it was closed before world '${name}' was opened.`)
      const opened = await this.#options.open(name, this.#wake(name))
      opened.runner.on('runner-stopped', ({ world }) => {
        if (world === name) leave()
      })
      return opened
    } catch (error) {
      leave()
      throw error
    }
  }

  #opened(world: OpenWorld, opened: Opened): void {
    world.opened = opened
    const { runner } = opened
    runner.on('runner-failed', (event) => {
      if (event.world === world.name) void this.#close(world)
    })
    // Where places are wanted, a world that only waits for people, or for an instant, gives up its own.
    for (const begun of ['approval-requested', 'retry-scheduled'] as const) {
      runner.on(begun, () => {
        if (this.#waiting > 0) setImmediate(() => this.#makeRoom())
      })
    }
  }

  /** It has no users now: it is closed after `idleMs` without work. */
  #leave(world: OpenWorld): void {
    if (world.closing !== undefined || world.opened === undefined) return
    if (this.#waiting > 0) this.#makeRoom()
    world.opened.runner.idle().then(
      () => this.#idle(world),
      () => this.#close(world),
    )
  }

  #idle(world: OpenWorld): void {
    if (world.users > 0 || world.closing !== undefined) return
    world.isIdle = true
    world.cancelTimer?.()
    if (this.#waiting > 0) return this.#makeRoom()
    const { host, idleMs } = this.#options
    const { clock } = host
    world.cancelTimer = clock.at(clock.now() + idleMs, () => {
      if (world.users === 0 && world.isIdle) void this.#close(world)
    })
  }

  /** Closes as many worlds as wait for a place, if so many can be spared: those first that were used longest ago. */
  #makeRoom(): void {
    let wanted = this.#waiting
    for (const world of this.#worlds.values()) if (world.closing !== undefined) wanted--
    for (const world of this.#worlds.values()) {
      if (wanted <= 0) return
      if (world.users > 0 || world.closing !== undefined || !(world.isIdle || this.#onlyWaits(world))) continue
      void this.#close(world)
      wanted--
    }
  }

  /** It does nothing before a person answers, or the clock has gone on for a while. */
  #onlyWaits({ opened }: OpenWorld): boolean {
    const dueMs = opened && this.#dueMs(opened)
    return dueMs !== undefined && dueMs >= this.#options.host.clock.now() + shortestRestMs
  }

  /** When a world goes on by itself, on the clock; `Infinity`: never. `undefined`: it is at work. */
  #dueMs({ behindMs, runner }: Opened): number | undefined {
    const untilMs = waitsUntil(runner.world, this.#options.host)
    return untilMs === undefined ? undefined : untilMs + behindMs
  }

  /** Opens a closed world again when its instant comes. */
  #sleep(name: string, dueMs: number): void {
    const { failed, host } = this.#options
    const { clock } = host
    const open = (): void => void this.use(name, () => undefined).catch((error: unknown) => failed(name, error))
    this.#asleep.set(name, { sinceMs: clock.now(), cancel: clock.at(dueMs, open) })
  }

  /** For how long a world has slept that is opened now. */
  #wake(name: string): number {
    const asleep = this.#asleep.get(name)
    if (asleep === undefined) return 0
    this.#asleep.delete(name)
    asleep.cancel()
    return this.#options.host.clock.now() - asleep.sinceMs
  }

  #close(world: OpenWorld): Promise<void> {
    return (world.closing ??= this.#stop(world))
  }

  async #stop(world: OpenWorld): Promise<void> {
    world.cancelTimer?.()
    try {
      const runner = await world.runner
      const dueMs = world.opened && this.#dueMs(world.opened)
      if (dueMs !== undefined && dueMs !== Infinity && !this.#isClosed) this.#sleep(world.name, dueMs)
      await runner.stop()
    } catch {
      // It was never open, or has failed: its users have the error.
    } finally {
      if (this.#worlds.get(world.name) === world) this.#worlds.delete(world.name)
    }
  }
}
