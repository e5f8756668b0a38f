import { thrownMessage } from '../../base/thrown-message.ts'
import type { SharedStore } from '../../stores/port.ts'
import { EntiaError, type EntiaErrorCode } from '../../base/entia-error.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import type { TickEvent } from '../loop/events.ts'
import { Listeners } from '../loop/listeners.ts'
import type { Runner } from '../loop/runner.ts'
import type { RestoreOptions } from '../loop/stored-ticks.ts'
import { type Board, type BoardState, type Claim, type DueWorld, sessionKey } from './board.ts'
import { BoardSlot } from './board-slot.ts'
import { letGo } from './letting-go.ts'
import { holdRoot } from './root-tenure.ts'
import { holdSession } from './session-tenure.ts'
import { UnfitWorlds } from './unfit-worlds.ts'

export interface WorkerParts {
  readonly store: SharedStore
  readonly board: Board
  /** Its seams name the board as the fleet. */
  readonly host: Host
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  readonly record?: boolean | undefined
  /** Whether the Host's `onToolChange` applies to tools that no living worker has. @default false: worlds wait for one that has them */
  readonly dropsTools?: boolean | undefined
  /** Makes a root world at its first letter. */
  readonly make: (name: string) => World
  /** The agent that a letter to a root world means which names none. @default the only one of the world */
  readonly agentOf?: ((world: World) => Entity) | undefined
  /** Most sessions that run here at once, of those that the cap of the fleet lets run. One that only waits does not count. */
  readonly maxSessions: number
  /** Most root worlds that it holds at once. */
  readonly maxWorlds: number
  /** What other Workers of this process hold of that room. @default nothing: it is the only one */
  readonly beside?: (() => Held) | undefined
  /** There is room again, for the others too. */
  readonly freed?: (() => void) | undefined
  /** Its board tells of letters that wake worlds, too. @default false: the store does */
  readonly isToldOfLetters?: boolean | undefined
  /** Another Worker tells the Host its part of the calls to a provider. @default false */
  readonly isFurther?: boolean | undefined
  /** Milliseconds for which a world has only waited after which it is parked. */
  readonly idleMs: number
  /** A world was opened here. */
  readonly opened?: ((runner: Runner) => void) | undefined
  /** A world cannot be driven here now. It is tried again after a while. */
  readonly unfit?: ((world: string, code: EntiaErrorCode | undefined, message: string) => void) | undefined
  /** The board cannot be read now. It is tried again; what it says again in a row is not repeated. */
  readonly failed?: ((error: unknown) => void) | undefined
}

/** Sessions that have a slot, and root worlds. */
export interface Held {
  readonly running: number
  readonly worlds: number
}

/** How often the board is looked at where nothing is heard of it. */
const lookEachMs = 500
/** The same where it holds nothing, and there is nothing to do. */
const restLookMs = 1_250
/** A suspect that only waits is parked after so long: then it is none any more, and makes room for the next one. */
const suspectIdleMs = 1_000
/** Who has lived for so long with a suspect will not die of it. */
const suspectForMs = 60_000

interface Holding {
  /** Of a session. */
  readonly slot?: BoardSlot
  readonly claim?: number
  readonly isSuspect: boolean
  readonly sinceMs: number
  /** Since when its World is open here. */
  openedMs: number
  readonly release: AbortController
  readonly ended: Promise<void>
}

interface Taken extends Pick<Holding, 'claim' | 'slot'> {
  readonly isSuspect?: boolean | undefined
  readonly release?: AbortController
  readonly hold: (signal: AbortSignal) => Promise<void>
}

/** Drives the worlds of a fleet that come to it: roots that are due, and sessions that get a slot. */
export class Worker {
  readonly #parts: WorkerParts
  readonly #listeners: Listeners
  readonly #worlds = new Map<string, Holding>()
  readonly #sessions = new Map<string, Holding>()
  readonly #unfit: UnfitWorlds
  /** There may be something for it. */
  #hasWork = true
  /** Its Host knows what others have. Before, that would look as if it were gone. */
  #knowsOthers = false
  /** Claims on sessions that the board says it has, and that it does not hold, and since when. */
  #unheld = new Map<string, { readonly id: number; readonly sinceMs: number }>()
  readonly #ends: (() => void)[] = []
  #cancelWatch: (() => void) | undefined
  #fenced = 0
  #recovered = 0
  /** Why the board could not be read at the last try, by what was wanted of it. */
  readonly #failures = new Map<'state' | 'work', string>()
  #isLooking = false
  #lookAgain = false
  #isStopped = false

  constructor(parts: WorkerParts) {
    this.#parts = parts
    const { clock } = parts.host
    this.#listeners = new Listeners('a worker', () => ({ nowMs: clock.now(), dateMs: clock.date() }))
    this.#unfit = new UnfitWorlds({ clock, unfit: parts.unfit, report: (event) => this.#listeners.emit(event) })
  }

  /** How much it holds. */
  get holds(): { readonly worlds: number; readonly sessions: number } {
    return { worlds: this.#worlds.size, sessions: this.#sessions.size }
  }

  /** How often, since its start, something was taken from it (`fenced`), and it took something over from one that had died. */
  get counts(): { readonly fenced: number; readonly recovered: number } {
    return { fenced: this.#fenced, recovered: this.#recovered }
  }

  /** Calls a listener for the events of what it holds, those of sessions with their paths. */
  on(type: string, listener: (event: never) => unknown): () => void {
    return this.#listeners.on(type, listener)
  }

  start(): void {
    const { board, store } = this.#parts
    if (this.#parts.isToldOfLetters !== true) this.#ends.push(store.on('letter', () => this.look()))
    this.#ends.push(
      board.onWork(() => this.look()),
      board.onState(() => void this.#lookAround()),
    )
    this.#watch()
    void this.#lookAround()
  }

  /**
   * Lets go of all that it holds: it goes on elsewhere, or at the next start.
   * @param onceMs for so long tools of class `once` may end what they have begun
   */
  async stop(onceMs = 0): Promise<void> {
    this.#isStopped = true
    this.#cancelWatch?.()
    for (const end of this.#ends.splice(0)) end()
    const holdings = [...this.#worlds.values(), ...this.#sessions.values()]
    for (const { release } of holdings) letGo(release, onceMs)
    await Promise.all(holdings.map(({ ended }) => ended))
  }

  #watch(): void {
    if (this.#isStopped) return
    const { clock } = this.#parts.host
    const isAtRest = !this.#hasWork && this.#worlds.size === 0 && this.#sessions.size === 0
    this.#cancelWatch = clock.at(clock.now() + (isAtRest ? restLookMs : lookEachMs), () => {
      const mayHave = this.#hasWork
      void this.#lookAround().then(() => !mayHave && this.#hasWork && this.look())
      if (mayHave) this.look()
      this.#watch()
    })
  }

  async #lookAround(): Promise<void> {
    const { board, host } = this.#parts
    const beforeMs = host.clock.now() - lookEachMs
    const state = await board.state().catch((error: unknown) => this.#failed('state', error))
    this.#hasWork = state?.hasWork !== false
    if (state === undefined || this.#isStopped) return
    this.#failures.delete('state')
    const isFirst = !this.#knowsOthers
    this.#knowsOthers = true
    host.learn(state.has)
    if (this.#parts.isFurther !== true) host.shareWith(state.workers)
    for (const [provider, forMs] of state.pauses) host.pause(provider, forMs)
    this.#releaseLost(state, beforeMs)
    this.#holdUnknown(state, beforeMs)
    if (isFirst) this.look()
  }

  /** What was taken from this worker and only waits finds that out by no commit. */
  #releaseLost({ sessions, worlds }: BoardState, beforeMs: number): void {
    for (const [name, { openedMs, release }] of this.#worlds) {
      // What has come since is perhaps not entered yet.
      if (!worlds.has(name) && openedMs < beforeMs) release.abort()
    }
    for (const [key, { openedMs, release, sinceMs }] of this.#sessions) {
      const held = sessions.get(key)
      if ((held === undefined && sinceMs < beforeMs) || (held?.isOpen === false && openedMs < beforeMs)) release.abort()
    }
  }

  /**
   * What was given to this worker by an answer that was lost, or has ended here without the board's taking notice, it holds now.
   * So too what it holds by an older claim: the board would not listen to it.
   */
  #holdUnknown({ sessions }: BoardState, beforeMs: number): void {
    const before = this.#unheld
    this.#unheld = new Map()
    for (const [key, { claim }] of sessions) {
      if (this.#sessions.get(key)?.claim === claim.id) continue
      const known = before.get(key)
      const sinceMs = known?.id === claim.id ? known.sinceMs : this.#parts.host.clock.now()
      // An answer that is on its way comes before the next look.
      if (sinceMs <= beforeMs) this.#holdClaim(claim)
      else this.#unheld.set(key, { id: claim.id, sinceMs })
    }
  }

  /** There may be something for it. */
  look(): void {
    this.#lookAgain = true
    if (!this.#isLooking && this.#knowsOthers) void this.#lookAll()
  }

  async #lookAll(): Promise<void> {
    this.#isLooking = true
    while (this.#lookAgain && !this.#isStopped) {
      this.#lookAgain = false
      try {
        await this.#takeSessions()
        await this.#takeWorlds()
        this.#failures.delete('work')
      } catch (error) {
        this.#failed('work', error)
      }
    }
    this.#isLooking = false
  }

  /** The next look tries again. */
  #failed(what: 'state' | 'work', error: unknown): undefined {
    const message = thrownMessage(error)
    const isKnown = [...this.#failures.values()].includes(message)
    this.#failures.set(what, message)
    if (!isKnown && !this.#isStopped) this.#parts.failed?.(error)
  }

  async #takeSessions(): Promise<void> {
    const { board, maxSessions } = this.#parts
    while (!this.#isStopped) {
      const claims = await board.next({ room: this.#room(maxSessions, 'running'), hasSuspect: this.#hasSuspect })
      if (claims.length === 0) return
      for (const claim of claims) {
        // Another Worker of this process has taken the room meanwhile.
        const isFull = claim.isWaiting !== true && this.#room(maxSessions, 'running') === 0
        if (this.#isStopped || isFull) await board.putBack(claim)
        else this.#holdClaim(claim)
      }
    }
  }

  /** It drives one at a time, so that of two only the deadly one is still a suspect in the end. */
  get #hasSuspect(): boolean {
    const nowMs = this.#parts.host.clock.now()
    const holdings = [...this.#worlds.values(), ...this.#sessions.values()]
    return holdings.some(({ isSuspect, openedMs }) => isSuspect && nowMs < openedMs + suspectForMs)
  }

  /** Sessions without a slot wait for their own sessions, and would keep these from running, if they counted. */
  get holdsOfRoom(): Held {
    let running = 0
    for (const { slot } of this.#sessions.values()) if (slot?.isHeld === true) running++
    return { running, worlds: this.#worlds.size }
  }

  /** How many more it may take. */
  #room(most: number, of: keyof Held): number {
    return Math.max(0, most - this.holdsOfRoom[of] - (this.#parts.beside?.()[of] ?? 0))
  }

  #holdClaim(claim: Claim): void {
    const { isSuspect } = claim
    // Its answer was lost, and another one has come since.
    if (isSuspect === true && this.#hasSuspect) return void this.#parts.board.putBack(claim).catch(() => undefined)
    const release = new AbortController()
    const slot = new BoardSlot(this.#parts.board, claim, release.signal)
    const hold = (signal: AbortSignal): Promise<void> => this.#holdSession(claim, slot, signal)
    this.#hold(this.#sessions, sessionKey(claim.order), { claim: claim.id, hold, isSuspect, release, slot })
  }

  async #holdSession(claim: Claim, slot: BoardSlot, signal: AbortSignal): Promise<void> {
    const { board, dropsTools, host, known, record, store } = this.#parts
    const idleMs = this.#idleMs(claim)
    const { sessionId } = claim.order
    const key = sessionKey(claim.order)
    if (claim.isRecovered === true) this.#recovered++
    const listeners = this.#listeners
    const opened = (): void => this.#opened(this.#sessions, key)
    try {
      const parts = { store, host, known, dropsTools, record, listeners, opened, slot, idleMs, signal }
      const end = await holdSession(claim.order, parts)
      if (end === 'let-go') await board.putBack(claim)
      else if (end === 'resting') await board.rest(claim)
      else await board.finished(claim)
      this.#unfit.delete(key)
    } catch (error) {
      const isFenced = isCode(error, 'world-fenced')
      if (isFenced) this.#fenced++
      // Where another has the claim by now, that changes nothing.
      const forMs = await board.putBack(claim, isFenced ? undefined : this.#unfit.add(key, sessionId, error))
      if (!isFenced) this.#unfit.report(key, sessionId, error, forMs)
    }
  }

  async #takeWorlds(): Promise<void> {
    const { board, maxWorlds } = this.#parts
    // Without room too: sessions that rest are put in line.
    const room = this.#room(maxWorlds, 'worlds')
    for (const due of await board.due({ room, hasSuspect: this.#hasSuspect }, this.#unfit.now)) {
      const { isLost, isSuspect, name } = due
      // Another Worker of this process may have taken the room meanwhile.
      if (this.#isStopped || this.#room(maxWorlds, 'worlds') === 0) return
      if ((this.#worlds.has(name) && isLost !== true) || (isSuspect === true && this.#hasSuspect)) continue
      this.#hold(this.#worlds, name, { hold: (signal) => this.#holdWorld(due, signal), isSuspect })
    }
  }

  async #holdWorld(due: DueWorld, signal: AbortSignal): Promise<void> {
    const { isLost, isRecovered, name, waitedMs } = due
    const recovered = (): void => void (isRecovered === true && this.#recovered++)
    try {
      const opened = (runner: Runner): void => {
        this.#opened(this.#worlds, name)
        recovered()
        runner.on('*', (event) => this.#listeners.emit(event as TickEvent))
        this.#parts.opened?.(runner)
      }
      const idleMs = this.#idleMs(due)
      await holdRoot(name, { ...this.#parts, idleMs, isLost, opened, signal })
      this.#unfit.delete(name)
    } catch (error) {
      if (isCode(error, 'world-fenced')) this.#fenced++
      // Another worker was first.
      else if (!isCode(error, 'world-locked')) {
        this.#unfit.add(name, name, error)
        this.#unfit.report(name, name, error, waitedMs)
      }
    }
  }

  #idleMs({ isSuspect }: Pick<Claim, 'isSuspect'>): number {
    const { idleMs } = this.#parts
    return isSuspect === true ? Math.min(suspectIdleMs, idleMs) : idleMs
  }

  #opened(holdings: ReadonlyMap<string, Holding>, key: string): void {
    const holding = holdings.get(key)
    if (holding !== undefined) holding.openedMs = this.#parts.host.clock.now()
  }

  #hold(holdings: Map<string, Holding>, key: string, taken: Taken): void {
    const { hold, isSuspect = false, release = new AbortController(), ...of } = taken
    // It was taken from this worker, and came back.
    const before = holdings.get(key)
    before?.release.abort()
    const isNewest = (): boolean => holdings.get(key) === holding
    const ended = this.#held(before?.ended, async () => isNewest() && hold(release.signal)).finally(() => {
      if (isNewest()) holdings.delete(key)
      this.look()
      this.#parts.freed?.()
    })
    const sinceMs = this.#parts.host.clock.now()
    const holding: Holding = { isSuspect, sinceMs, openedMs: Infinity, release, ended, ...of }
    holdings.set(key, holding)
  }

  async #held(before: Promise<void> | undefined, hold: () => Promise<unknown>): Promise<void> {
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
