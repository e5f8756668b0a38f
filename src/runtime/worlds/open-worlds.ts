import { Approval } from '../../../components/agent/tool-call.ts'
import { Pending } from '../../../components/effects/effect.ts'
import { Slots } from '../../engine/effects/slots.ts'
import type { Clock } from '../../engine/loop/clock.ts'
import type { Runner } from '../../engine/loop/runner.ts'
import { EntiaError } from '../../world/entia-error.ts'

export interface OpenWorldsOptions {
  readonly clock: Clock
  /** Milliseconds without work or messages after which a world is closed. */
  readonly idleMs: number
  /** Most worlds that are open at once. */
  readonly maxOpen: number
  /** Opens and starts a world. */
  readonly open: (name: string) => Promise<Runner>
}

/** A world that is open, or is being opened or closed. */
interface OpenWorld {
  readonly name: string
  readonly runner: Promise<Runner>
  /** The same once it is open. */
  opened?: Runner
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

  /** The Runners that are open now. */
  *runners(): Generator<Runner> {
    for (const { opened } of this.#worlds.values()) if (opened !== undefined) yield opened
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
    const world: OpenWorld = { name, runner: this.#open(name, place.promise), users: 0, isIdle: false }
    world.runner.then(
      (runner) => this.#opened(world, runner),
      // The calls that use it get the error; the next call opens it again.
      () => this.#worlds.delete(name),
    )
    return world
  }

  async #open(name: string, place: Promise<() => void>): Promise<Runner> {
    const leave = await place
    try {
      if (this.#isClosed)
        throw new EntiaError('store-closed', `worlds: it was closed before world '${name}' was opened.`)
      const runner = await this.#options.open(name)
      runner.on('runner-stopped', ({ world }) => {
        if (world === name) leave()
      })
      return runner
    } catch (error) {
      leave()
      throw error
    }
  }

  #opened(world: OpenWorld, runner: Runner): void {
    world.opened = runner
    runner.on('runner-failed', (event) => {
      if (event.world === world.name) void this.#close(world)
    })
    // Where places are wanted, a world that only waits for people gives up its own.
    runner.on('approval-requested', () => {
      if (this.#waiting > 0) setImmediate(() => this.#makeRoom())
    })
  }

  /** It has no users now: it is closed after `idleMs` without work. */
  #leave(world: OpenWorld): void {
    if (world.closing !== undefined || world.opened === undefined) return
    if (this.#waiting > 0) this.#makeRoom()
    world.opened.idle().then(
      () => this.#idle(world),
      () => this.#close(world),
    )
  }

  #idle(world: OpenWorld): void {
    if (world.users > 0 || world.closing !== undefined) return
    world.isIdle = true
    world.cancelTimer?.()
    if (this.#waiting > 0) return this.#makeRoom()
    const { clock, idleMs } = this.#options
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
      if (world.users > 0 || world.closing !== undefined || !(world.isIdle || waitsForPeople(world.opened))) continue
      void this.#close(world)
      wanted--
    }
  }

  #close(world: OpenWorld): Promise<void> {
    return (world.closing ??= this.#stop(world))
  }

  async #stop(world: OpenWorld): Promise<void> {
    world.cancelTimer?.()
    try {
      await (await world.runner).stop()
    } catch {
      // It was never open, or has failed: its users have the error.
    } finally {
      if (this.#worlds.get(world.name) === world) this.#worlds.delete(world.name)
    }
  }
}

/** All that is in flight are questions to people, without a deadline: they are asked again when the world is opened. */
function waitsForPeople(runner: Runner | undefined): boolean {
  if (runner === undefined) return false
  const approvals = runner.world.query(Approval, Pending)
  return approvals.length > 0 && approvals.length === runner.stats.inFlight
}
