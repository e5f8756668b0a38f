import type { SessionFleet, SessionOrder } from '../../engine/children/session-fleet.ts'
import type { Asking, Board, BoardState, Claim, DueWorld } from '../../engine/fleet/board.ts'
import { sessionKey } from '../../engine/fleet/board.ts'
import { givenUp, maxStrikes } from '../../engine/fleet/strikes.ts'
import { JournalWriter } from '../../engine/loop/journal-writer.ts'
import { fencedError } from '../../stores/order.ts'
import type { WorldInfo } from '../../stores/port.ts'
import type { World } from '../../world/world.ts'
import type { PoolEvent } from '../law.ts'
import type { SimulatedBoardOptions } from './board-options.ts'
import { type Line, type Reach, slotAgain } from './board-reach.ts'
import { firstInLine, firstWaiting, isFirst, isSuspect, newPlace, type Place } from './line-place.ts'
import { dueWorlds, wakeable } from './due-worlds.ts'
import { Pauses } from './pauses.ts'
import { Presence } from './presence.ts'

/** A session that has lived so long with its holder has no strikes. */
const strikesLastMs = 60_000

/** The board of a fleet, as a database would keep it: each call is one transaction over what is there. */
export class SimulatedBoard {
  readonly presence: Presence
  readonly #options: SimulatedBoardOptions
  /** In order of arrival. */
  readonly #places = new Map<string, Place>()
  readonly #launches = new Map<string, Promise<void>>()
  readonly #hearers = new Set<() => void>()
  readonly pauses: Pauses
  /** Grows with each change, so that who has looked need not look again. */
  #version = 0
  readonly #maxStrikes: number
  readonly #looked = new Map<string, number>()
  #listed: { readonly version: number; readonly worlds: Promise<readonly WorldInfo[]> } | undefined

  constructor(options: SimulatedBoardOptions) {
    this.#options = options
    const { date, leaseMs, maxStrikes: most = maxStrikes, told } = options
    this.#maxStrikes = most
    this.pauses = new Pauses(date)
    this.presence = new Presence({ date, leaseMs, told: (event) => told?.(event) })
  }

  /** The slots in use, for who watches the cap. */
  get running(): number {
    return [...this.#places.values()].filter(({ hasSlot }) => hasSlot).length
  }

  /** Sessions that have not ended: in line, or held. */
  get unfinished(): readonly SessionOrder[] {
    return [...this.#places.values()].filter(({ isFinished }) => !isFinished).map(({ order }) => order)
  }

  /** The worker that has a session; `undefined`: none has, or it is no session of this board. */
  holderOf(order: Pick<SessionOrder, 'root' | 'sessionId'>): string | undefined {
    return this.#places.get(sessionKey(order))?.worker
  }

  /** A worker is thought dead, rightly or not: what it holds is in line, or due, until it is heard again. */
  suspect(worker: string): void {
    this.presence.suspect(worker)
    this.changed()
    this.#work()
  }

  /** A worker says that it lives. */
  beat(worker: string): void {
    const { date, told } = this.#options
    told?.({ type: 'heard', worker, atMs: date() })
    this.presence.beat(worker)
  }

  /** Something has changed in the store that the board looks at. */
  changed(): void {
    this.#version++
  }

  /** A worker has looked for this and found nothing, and nothing has changed since. */
  isKnown(worker: string, what: 'due' | 'next'): boolean {
    this.#sweep()
    return this.#looked.get(`${worker} ${what}`) === this.#version
  }

  hear(hear: () => void): () => void {
    this.#hearers.add(hear)
    return () => this.#hearers.delete(hear)
  }

  /** The board as a worker sees it. */
  of(worker: string, reach: Reach = this.#here): Board {
    this.presence.enter(worker)
    this.pauses.tell()
    const { call, hear, hearState } = reach
    const fleet = this.#fleet()
    const line = this.#line(worker)
    return {
      launch: (...given) => call('launch', () => fleet.launch(...given)),
      withdraw: (...given) => call('withdraw', () => fleet.withdraw(...given)),
      position: (...given) => call('position', () => fleet.position(...given)),
      post: (letter) => call('post', () => this.#options.store.post(letter)),
      next: (...given) => call('next', () => line.next(...given)),
      giveBack: (...given) => call('giveBack', () => line.giveBack(...given)),
      putBack: (...given) => call('putBack', () => line.putBack(...given)),
      rest: (...given) => call('rest', () => line.rest(...given)),
      finished: (...given) => call('finished', () => line.finished(...given)),
      slotAgain: (claim, signal) => slotAgain(line, reach, claim, signal),
      due: (...given) => call('due', () => this.#due(worker, ...given)),
      state: () => call('state', () => this.#state(worker)),
      pause: (...given) => call('pause', () => this.pauses.begin(...given)),
      onWork: hear,
      onState: hearState,
    }
  }

  /** How workers of this process reach it. */
  get #here(): Reach {
    return { call: (_, act) => act(), hear: (hear) => this.hear(hear), hearState: (hear) => this.pauses.hear(hear) }
  }

  #fleet(): Omit<SessionFleet, 'pause' | 'post'> {
    return {
      launch: async (order, world, epoch) => {
        const key = sessionKey(order)
        const { isHeld = () => true } = this.#options
        if (!isHeld(order.parent, epoch)) throw fencedError(order.parent, epoch)
        // A parent and its successor may launch at once.
        const launched = this.#launches.get(key) ?? this.#launch(order, world)
        this.#launches.set(key, launched)
        await launched
      },
      withdraw: async (order) => {
        const key = sessionKey(order)
        const place = this.#places.get(key)
        if (place === undefined || !isFirst(place)) return false
        this.#places.delete(key)
        this.#launches.delete(key)
        this.#tell('left', place)
        this.changed()
        await this.#options.store.delete(order.sessionId)
        return true
      },
      position: async (order) => {
        const first = [...this.#places.values()].filter(isFirst)
        const index = first.findIndex((place) => sessionKey(place.order) === sessionKey(order))
        return index === -1 ? undefined : index
      },
    }
  }

  #line(worker: string): Line {
    const held = ({ id, order }: Claim): Place | undefined => {
      const place = this.#places.get(sessionKey(order))
      return place?.worker === worker && place.claim === id ? place : undefined
    }
    const change = async (claim: Claim, make: (place: Place) => void): Promise<void> => {
      const place = held(claim)
      if (place === undefined) return
      make(place)
      this.changed()
      this.#work()
    }
    return {
      next: (asking) => this.#next(worker, asking),
      giveBack: (claim) => change(claim, (place) => this.#freeSlot(place)),
      putBack: async (claim, unfitMs = 0) => {
        const place = held(claim)
        if (place === undefined) return undefined
        const nowMs = this.#options.date()
        this.#released(place)
        if (unfitMs > 0) place.unfit.set(worker, nowMs + unfitMs)
        place.unfitSinceMs = unfitMs > 0 ? (place.unfitSinceMs ?? nowMs) : undefined
        this.#putBack(place)
        this.changed()
        this.#work()
        return place.unfitSinceMs === undefined ? undefined : nowMs - place.unfitSinceMs
      },
      rest: (claim) =>
        change(claim, (place) => {
          this.#released(place)
          this.#putBack(place)
          if (place.wantsSlot) this.#tell('left', place)
          Object.assign(place, { wantsSlot: false, isResting: true, unfitSinceMs: undefined })
        }),
      finished: (claim) => change(claim, (place) => this.#finish(place)),
      wantSlot: (claim) =>
        change(claim, (place) => {
          if (place.hasSlot || place.wantsSlot) return
          Object.assign(place, { isReturning: true, wantsSlot: true })
          this.#tell('entered', place)
        }),
      hasSlot: async (claim) => held(claim)?.hasSlot,
    }
  }

  async #launch(order: SessionOrder, world: World): Promise<void> {
    const { root, sessionId } = order
    const { date, store, tenantOf } = this.#options
    const { journal } = await JournalWriter.openShared(sessionId, { store, root })
    try {
      if (!(await journal.isTaken())) await journal.begin(world)
    } finally {
      await journal.close()
    }
    const place = newPlace(order, tenantOf?.(root) ?? '', date())
    this.#places.set(sessionKey(order), place)
    this.#tell('entered', place)
    this.changed()
    this.#work()
  }

  /** One at a time: there may be more. */
  async #next(worker: string, asking: Asking): Promise<readonly Claim[]> {
    const { hasSuspect, room } = asking
    for (;;) {
      this.#sweep()
      this.#grant()
      const place = this.#placeFor(worker, asking)
      if (place === undefined) {
        // Who was unfit for something looks again.
        const isWaited = [...this.#places.values()].some(({ unfit }) => unfit.has(worker))
        if (!isWaited && !hasSuspect && room > 0) this.#looked.set(`${worker} next`, this.#version)
        return []
      }
      if (place.lostBy !== undefined && place.lostBy !== worker) place.strikes++
      place.lostBy = undefined
      if (place.strikes >= this.#maxStrikes) {
        await this.#giveUp(place)
        continue
      }
      const { isDoubled = () => false, date, told } = this.#options
      const again = !place.isDoubled && isDoubled()
      if (!place.isDoubled && place.wantsSlot) {
        Object.assign(place, { hasSlot: true, wantsSlot: false })
        this.#tell('granted', place)
      }
      Object.assign(place, { worker, isDoubled: again, sinceMs: date() })
      place.claim++
      const { claim: id, hasSlot, order, strikes } = place
      told?.({ type: 'given', session: order.sessionId, worker })
      this.changed()
      if (again) this.#work()
      const its = { isRecovered: strikes > 0, isSuspect: isSuspect(place, this.#maxStrikes) }
      return [{ id, order, isWaiting: !hasSlot, ...its }]
    }
  }

  #placeFor(worker: string, { hasSuspect, room }: Asking): Place | undefined {
    const { cap, date, tenantCap = cap } = this.#options
    const places = [...this.#places.values()]
    const taker = { worker, dateMs: date(), hasSuspect, maxStrikes: this.#maxStrikes }
    const waiting = this.#doubled ?? firstWaiting(places, taker)
    if (waiting !== undefined || room <= 0 || this.#free <= 0) return waiting
    return firstInLine(places, taker, tenantCap)
  }

  /** A session that is given to a second worker: what gives sessions away may do it twice. */
  get #doubled(): Place | undefined {
    return [...this.#places.values()].find(({ isDoubled, worker }) => isDoubled && worker !== undefined)
  }

  async #due(worker: string, { room }: Asking, except: readonly string[]): Promise<readonly DueWorld[]> {
    this.#sweep()
    const { date } = this.#options
    const version = this.#version
    const { presence } = this
    const worlds = await this.worlds()
    this.#wakeResting(worlds)
    const due = dueWorlds(worlds, { presence, dateMs: date(), except })
    const isLater =
      except.length > 0 || worlds.some(({ heldBy, wakeAtMs }) => heldBy === undefined && wakeAtMs !== undefined)
    if (due.length === 0 && !isLater) this.#looked.set(`${worker} due`, version)
    return due.slice(0, room)
  }

  #wakeResting(worlds: readonly WorldInfo[]): void {
    const woken = wakeable(worlds, this.#options.date()).flatMap((order) => {
      const place = this.#places.get(sessionKey(order))
      return place?.isResting === true ? place : []
    })
    for (const place of woken) place.isResting = false
    if (woken.length === 0) return
    this.changed()
    this.#work()
  }

  async #state(worker: string): Promise<BoardState> {
    this.#sweep()
    const worlds = await this.worlds()
    const own = worlds.filter(({ heldBy }) => heldBy?.holder === worker)
    const isOpen = (order: SessionOrder): boolean =>
      own.some(({ name, root }) => name === order.sessionId && root === order.root)
    const sessions = [...this.#places].flatMap(([key, { claim: id, hasSlot, order, worker: holder }]) =>
      holder === worker ? [[key, { claim: { id, order, isWaiting: !hasSlot }, isOpen: isOpen(order) }] as const] : [],
    )
    const { living } = this.presence
    return {
      worlds: new Set(own.flatMap(({ name, root }) => (root === undefined ? name : []))),
      sessions: new Map(sessions),
      workers: { count: Math.max(1, living.length), before: living.filter((each) => each < worker).length },
      has: this.presence.has,
      pauses: this.pauses.left,
    }
  }

  /** The worlds of the store, looked at once for all who ask between two changes. */
  worlds(): Promise<readonly WorldInfo[]> {
    if (this.#listed?.version !== this.#version || this.#options.hearsChanges !== true) {
      this.#listed = { version: this.#version, worlds: this.#options.store.list() }
    }
    return this.#listed.worlds
  }

  get #free(): number {
    return this.#options.cap - this.running
  }

  /** What no living worker holds is in line again: it is compared what is there, whatever has happened. */
  #sweep(): void {
    const { date, told } = this.#options
    if (this.presence.sweep()) this.changed()
    for (const place of this.#places.values()) {
      const { order, worker, sinceMs } = place
      if (worker === undefined || this.presence.isAlive(worker)) continue
      if (date() - sinceMs >= strikesLastMs) this.#released(place)
      told?.({ type: 'taken', what: order.sessionId, worker, atMs: date() })
      place.lostBy = worker
      this.#putBack(place)
      this.changed()
    }
  }

  /** Its parent is told that it has failed, and it leaves the line with all below it, which would wait for it. */
  async #giveUp(place: Place): Promise<void> {
    const { parent, root, sessionId } = place.order
    for (const each of this.#places.values()) {
      const { order } = each
      if (each.isFinished || order.root !== root || !order.path.includes(sessionId)) continue
      // Who has it writes no more, and launches none.
      await this.#options.seize?.(order)
      this.#finish(each)
      this.#options.told?.({ type: 'given-up', session: order.sessionId })
    }
    this.changed()
    const { line } = givenUp(sessionId, place.strikes)
    await this.#options.store.post({ root, world: parent, line, id: `${sessionId}/given-up` })
  }

  #finish(place: Place): void {
    this.#tell('left', place)
    Object.assign(place, { worker: undefined, hasSlot: false, wantsSlot: false, isDoubled: false, isFinished: true })
  }

  /** Its holder lets go of it in order. */
  #released(place: Place): void {
    place.strikes = 0
    this.#options.told?.({ type: 'released', session: place.order.sessionId })
  }

  #freeSlot(place: Place): void {
    place.unfitSinceMs = undefined
    if (!place.hasSlot) return
    this.#tell('left', place)
    place.hasSlot = false
  }

  #putBack(place: Place): void {
    const wantsSlot = place.hasSlot || place.wantsSlot
    if (wantsSlot) this.#tell('left', place)
    Object.assign(place, { worker: undefined, hasSlot: false, wantsSlot, isDoubled: false, isReturning: true })
    if (wantsSlot) this.#tell('entered', place)
  }

  /** Gives free slots to those that are held, ahead of all in line. */
  #grant(): void {
    const waiting = [...this.#places.values()].filter(({ wantsSlot, worker }) => wantsSlot && worker !== undefined)
    for (const place of waiting.slice(0, Math.max(0, this.#free))) {
      Object.assign(place, { hasSlot: true, wantsSlot: false })
      this.#tell('granted', place)
      this.changed()
    }
  }

  #work(): void {
    this.#grant()
    for (const hear of this.#hearers) hear()
  }

  #tell(type: PoolEvent['type'], it: Place): void {
    const { isReturning, order, tenant } = it
    const isPassed = it.unfit.size > 0 || isSuspect(it, this.#maxStrikes)
    const key = `line/${order.sessionId}`
    const place = isReturning ? 'return' : 'first'
    this.#options.pool?.(type === 'entered' ? { type, key, place, tenant, isPassed } : { type, key })
  }
}
