import { thrownMessage } from '../../rules/text/thrown-message.ts'
import type { SharedStore } from '../../stores/port.ts'
import { EntiaError, type EntiaErrorCode } from '../../world/entia-error.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { Listeners } from '../loop/listeners.ts'
import type { Runner } from '../loop/runner.ts'
import type { RestoreOptions } from '../loop/stored-ticks.ts'
import { type Board, type Claim, type DueWorld, sessionKey } from './board.ts'
import { BoardSlot } from './board-slot.ts'
import { holdRoot } from './root-tenure.ts'
import { holdSession } from './session-tenure.ts'

export interface WorkerParts {
  readonly store: SharedStore
  readonly board: Board
  /** Its seams name the board as the fleet. */
  readonly host: Host
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  readonly record?: boolean | undefined
  /** Makes a root world at its first letter. */
  readonly make: (name: string) => World
  /** The agent that a letter to a root world means which names none. @default the only one of the world */
  readonly agentOf?: ((world: World) => Entity) | undefined
  /** Most sessions that it holds at once, of those that the cap of the fleet lets run. */
  readonly maxSessions: number
  /** Most root worlds that it holds at once. */
  readonly maxWorlds: number
  /** Milliseconds without work or letters after which a root world is parked. */
  readonly idleMs: number
  /** A world was opened here. */
  readonly opened?: ((runner: Runner) => void) | undefined
  /** A world cannot be driven here now. It is tried again after a while. */
  readonly unfit?: ((world: string, code: EntiaErrorCode | undefined, message: string) => void) | undefined
}

/** How often the board is looked at where nothing is heard of it. */
const lookEachMs = 500
/** How long a world is left alone that could not be driven; twice as long after each further time. */
const firstRetryMs = 1_000
const longestRetryMs = 60_000

interface Holding {
  readonly sinceMs: number
  readonly release: AbortController
  readonly ended: Promise<void>
}

/** Drives the worlds of a fleet that come to it: roots that are due, and sessions that get a slot. */
export class Worker {
  readonly #parts: WorkerParts
  readonly #listeners: Listeners
  readonly #worlds = new Map<string, Holding>()
  readonly #sessions = new Map<string, Holding>()
  /** Worlds that could not be driven, until when they are left alone. */
  readonly #unfit = new Map<string, { readonly untilMs: number; readonly waitMs: number }>()
  readonly #ends: (() => void)[] = []
  #cancelWatch: (() => void) | undefined
  #fenced = 0
  #recovered = 0
  #isLooking = false
  #lookAgain = false
  #isStopped = false

  constructor(parts: WorkerParts) {
    this.#parts = parts
    const { clock } = parts.host
    this.#listeners = new Listeners('a worker', () => ({ nowMs: clock.now(), dateMs: clock.date() }))
  }

  /** How much it holds. */
  get holds(): { readonly worlds: number; readonly sessions: number } {
    return { worlds: this.#worlds.size, sessions: this.#sessions.size }
  }

  /** How often, since its start, something was taken from it (`fenced`), and it took something over from one that had died. */
  get counts(): { readonly fenced: number; readonly recovered: number } {
    return { fenced: this.#fenced, recovered: this.#recovered }
  }

  /** Calls a listener for the events of sessions that it holds, each with its path. */
  on(type: string, listener: (event: never) => unknown): () => void {
    return this.#listeners.on(type, listener)
  }

  start(): void {
    const { board, store } = this.#parts
    this.#ends.push(
      store.on('letter', () => this.#look()),
      board.onWork(() => this.#look()),
    )
    this.#watch()
    this.#look()
  }

  /** Lets go of all that it holds: it goes on elsewhere, or at the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelWatch?.()
    for (const end of this.#ends.splice(0)) end()
    const holdings = [...this.#worlds.values(), ...this.#sessions.values()]
    for (const { release } of holdings) release.abort()
    await Promise.all(holdings.map(({ ended }) => ended))
  }

  #watch(): void {
    if (this.#isStopped) return
    const { clock } = this.#parts.host
    this.#cancelWatch = clock.at(clock.now() + lookEachMs, () => {
      this.#releaseLost().catch(() => undefined)
      this.#look()
      this.#watch()
    })
  }

  /** What was taken from this worker and only waits finds that out by no commit. */
  async #releaseLost(): Promise<void> {
    const { board, host } = this.#parts
    const beforeMs = host.clock.now() - lookEachMs
    const { sessions, worlds } = await board.held()
    const release = (holdings: ReadonlyMap<string, Holding>, held: ReadonlySet<string>): void => {
      // What has come since is perhaps not entered yet.
      for (const [key, holding] of holdings) if (!held.has(key) && holding.sinceMs < beforeMs) holding.release.abort()
    }
    release(this.#sessions, sessions)
    release(this.#worlds, worlds)
  }

  #look(): void {
    this.#lookAgain = true
    if (!this.#isLooking) void this.#lookAll()
  }

  async #lookAll(): Promise<void> {
    this.#isLooking = true
    while (this.#lookAgain && !this.#isStopped) {
      this.#lookAgain = false
      try {
        await this.#takeSessions()
        await this.#takeWorlds()
      } catch {
        // A board that cannot be read now is read at the next look.
      }
    }
    this.#isLooking = false
  }

  async #takeSessions(): Promise<void> {
    const { board, maxSessions } = this.#parts
    while (this.#sessions.size < maxSessions && !this.#isStopped) {
      const claim = await board.next()
      if (claim === undefined) return
      if (this.#isStopped) return board.putBack(claim)
      this.#hold(this.#sessions, sessionKey(claim.order), (signal) => this.#holdSession(claim, signal))
    }
  }

  async #holdSession(claim: Claim, signal: AbortSignal): Promise<void> {
    const { board, host, known, record, store } = this.#parts
    const slot = new BoardSlot(board, claim, signal)
    if (claim.isRecovered === true) this.#recovered++
    const listeners = this.#listeners
    try {
      const end = await holdSession(claim.order, { store, host, known, record, listeners, slot, signal })
      await (end === 'let-go' ? board.putBack(claim) : board.finished(claim))
    } catch (error) {
      // Whoever has it by now says what becomes of it.
      if (isCode(error, 'world-fenced')) return void this.#fenced++
      await board.putBack(claim, this.#isUnfit(claim.order.sessionId, error))
    }
  }

  async #takeWorlds(): Promise<void> {
    const { board, host, maxWorlds } = this.#parts
    const room = maxWorlds - this.#worlds.size
    if (room <= 0) return
    const nowMs = host.clock.now()
    for (const due of await board.due(room)) {
      const { isLost, name } = due
      if (this.#isStopped) return
      if ((this.#worlds.has(name) && isLost !== true) || nowMs < (this.#unfit.get(name)?.untilMs ?? 0)) continue
      this.#hold(this.#worlds, name, (signal) => this.#holdWorld(due, signal))
    }
  }

  async #holdWorld({ isLost, isRecovered, name }: DueWorld, signal: AbortSignal): Promise<void> {
    const recovered = (): void => void (isRecovered === true && this.#recovered++)
    try {
      const opened = (runner: Runner): void => {
        recovered()
        this.#parts.opened?.(runner)
      }
      await holdRoot(name, { ...this.#parts, isLost, opened, signal })
      this.#unfit.delete(name)
    } catch (error) {
      if (isCode(error, 'world-fenced')) this.#fenced++
      // Another worker was first.
      else if (!isCode(error, 'world-locked')) this.#isUnfit(name, error)
    }
  }

  /** Returns for how many milliseconds it is left alone. */
  #isUnfit(world: string, error: unknown): number {
    const { host, unfit } = this.#parts
    const { waitMs = firstRetryMs } = this.#unfit.get(world) ?? {}
    this.#unfit.set(world, { untilMs: host.clock.now() + waitMs, waitMs: Math.min(2 * waitMs, longestRetryMs) })
    unfit?.(world, error instanceof EntiaError ? error.code : undefined, thrownMessage(error))
    return waitMs
  }

  #hold(holdings: Map<string, Holding>, key: string, hold: (signal: AbortSignal) => Promise<void>): void {
    // It was taken from this worker, and came back.
    const before = holdings.get(key)
    before?.release.abort()
    const release = new AbortController()
    const ended = this.#held(before?.ended, () => hold(release.signal)).finally(() => {
      if (holdings.get(key) === holding) holdings.delete(key)
      this.#look()
    })
    const holding = { sinceMs: this.#parts.host.clock.now(), release, ended }
    holdings.set(key, holding)
  }

  async #held(before: Promise<void> | undefined, hold: () => Promise<void>): Promise<void> {
    await before
    try {
      await hold()
    } catch {
      // What a board cannot take now, it finds out itself: this worker does not hold it any more.
    }
  }
}

function isCode(error: unknown, code: EntiaErrorCode): boolean {
  return error instanceof EntiaError && error.code === code
}
