import type { SessionFleet, SessionOrder } from '../engine/children/session-fleet.ts'
import { type Board, type Claim, type DueWorld, sessionKey } from '../engine/fleet/board.ts'
import { JournalWriter } from '../engine/loop/journal-writer.ts'
import type { SharedStore } from '../stores/port.ts'
import type { World } from '../world/world.ts'

interface Place {
  readonly order: SessionOrder
  /** The worker that holds it; absent: it is in line. */
  worker: string | undefined
  /** How often it was given to a worker. */
  claim: number
  hasSlot: boolean
  /** It had a slot before: it goes ahead of all that never had one. */
  isReturning: boolean
  isFinished: boolean
  /** Until when a worker is not given it, in milliseconds since 1970. */
  readonly unfit: Map<string, number>
  /** Answers a holder that waits for a slot. */
  slotted: ((hasSlot: boolean) => void) | undefined
}

export interface SimulatedBoardOptions {
  readonly store: SharedStore
  /** Most sessions with a slot at once, over all workers. */
  readonly cap: number
  /** Milliseconds since 1970. */
  readonly date: () => number
}

/** The board of a fleet whose workers live in one process. */
export class SimulatedBoard {
  readonly #options: SimulatedBoardOptions
  /** In order of arrival. */
  readonly #places = new Map<string, Place>()
  readonly #launches = new Map<string, Promise<void>>()
  readonly #hearers = new Set<() => void>()
  /** Root worlds by the worker that took them last. */
  readonly #holders = new Map<string, string>()
  readonly #lost = new Set<string>()

  constructor(options: SimulatedBoardOptions) {
    this.#options = options
  }

  /** The slots in use, for who watches the cap. */
  get running(): number {
    return [...this.#places.values()].filter(({ hasSlot }) => hasSlot).length
  }

  /** A worker is thought dead, rightly or not: what it holds is in line, or due, again. */
  lost(worker: string): void {
    for (const place of this.#places.values()) if (place.worker === worker) putBack(place)
    for (const [name, holder] of this.#holders) if (holder === worker) this.#lost.add(name)
    this.#work()
  }

  /** The board as a worker sees it. */
  of(worker: string): Board {
    const { store } = this.#options
    return {
      ...this.#fleet(),
      ...this.#slots(worker),
      due: (limit) => this.#due(worker, limit),
      held: async () => ({
        worlds: new Set([...this.#holders].flatMap(([name, holder]) => (holder === worker ? name : []))),
        sessions: new Set([...this.#places].flatMap(([key, place]) => (place.worker === worker ? key : []))),
      }),
      post: (letter) => store.post(letter),
      onWork: (hear) => {
        this.#hearers.add(hear)
        return () => this.#hearers.delete(hear)
      },
    }
  }

  #fleet(): Omit<SessionFleet, 'post'> {
    return {
      launch: async (order, world) => {
        const key = sessionKey(order)
        // A parent and its successor may launch at once.
        const launched = this.#launches.get(key) ?? this.#launch(order, world)
        this.#launches.set(key, launched)
        await launched
      },
      withdraw: async (order) => {
        const place = this.#places.get(sessionKey(order))
        if (place === undefined || !isFirst(place)) return false
        this.#places.delete(sessionKey(order))
        this.#launches.delete(sessionKey(order))
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

  #slots(worker: string): Pick<Board, 'finished' | 'giveBack' | 'next' | 'putBack' | 'slotAgain'> {
    const held = ({ id, order }: Claim): Place | undefined => {
      const place = this.#places.get(sessionKey(order))
      return place?.worker === worker && place.claim === id ? place : undefined
    }
    const change = async (claim: Claim, make: (place: Place) => void): Promise<void> => {
      const place = held(claim)
      if (place === undefined) return
      make(place)
      this.#work()
    }
    return {
      next: async () => {
        const place =
          this.#free > 0 ? this.#inLine.find((each) => isFor(each, worker, this.#options.date())) : undefined
        if (place === undefined) return undefined
        Object.assign(place, { worker, hasSlot: true, claim: place.claim + 1 })
        return { id: place.claim, order: place.order }
      },
      giveBack: (claim) => change(claim, (place) => (place.hasSlot = false)),
      putBack: (claim, unfitMs = 0) =>
        change(claim, (place) => {
          putBack(place)
          if (unfitMs > 0) place.unfit.set(worker, this.#options.date() + unfitMs)
        }),
      finished: (claim) =>
        change(claim, (place) => {
          Object.assign(place, { worker: undefined, hasSlot: false, isFinished: true, slotted: undefined })
        }),
      slotAgain: (claim, signal) =>
        new Promise((resolve) => {
          const place = held(claim)
          if (place === undefined || signal.aborted) return resolve(false)
          Object.assign(place, { isReturning: true, slotted: resolve })
          signal.addEventListener('abort', () => resolve(false), { once: true })
          this.#work()
        }),
    }
  }

  async #launch(order: SessionOrder, world: World): Promise<void> {
    const { root, sessionId } = order
    const { store } = this.#options
    const { journal } = await JournalWriter.openShared(sessionId, { store, root })
    try {
      if (!(await journal.isTaken())) await journal.begin(world)
    } finally {
      await journal.close()
    }
    const place = {
      order,
      worker: undefined,
      claim: 0,
      hasSlot: false,
      isReturning: false,
      isFinished: false,
      unfit: new Map(),
    }
    this.#places.set(sessionKey(order), { ...place, slotted: undefined })
    this.#work()
  }

  async #due(worker: string, limit: number): Promise<readonly DueWorld[]> {
    const { date, store } = this.#options
    const worlds = await store.list()
    const due = worlds.flatMap(({ heldBy, isBusy, letters, name, root, wakeAtMs = Infinity }): readonly DueWorld[] => {
      if (root !== undefined) return []
      if (this.#lost.has(name)) return [{ name, isLost: true }]
      const isDue = heldBy === undefined && (letters !== undefined || isBusy === true || wakeAtMs <= date())
      return isDue ? [{ name }] : []
    })
    const given = due.slice(0, limit)
    for (const { name } of given) {
      this.#holders.set(name, worker)
      this.#lost.delete(name)
    }
    return given
  }

  get #free(): number {
    return this.#options.cap - this.running
  }

  /** Who waits for a slot: those that had one before, then the others, each in order of arrival. */
  get #inLine(): readonly Place[] {
    const waiting = [...this.#places.values()].filter((place) => !place.hasSlot && !place.isFinished)
    const wanting = waiting.filter(({ slotted, worker }) => worker === undefined || slotted !== undefined)
    return [...wanting.filter(({ isReturning }) => isReturning), ...wanting.filter(({ isReturning }) => !isReturning)]
  }

  /** Gives free slots to those that are held, and wakes those who may take others. */
  #work(): void {
    while (this.#free > 0) {
      const [place] = this.#inLine
      if (place?.slotted === undefined) break
      place.hasSlot = true
      place.slotted(true)
      place.slotted = undefined
    }
    for (const hear of this.#hearers) hear()
  }
}

function putBack(place: Place): void {
  place.slotted?.(false)
  Object.assign(place, { worker: undefined, hasSlot: false, isReturning: true, slotted: undefined })
}

function isFor({ unfit, worker: holder }: Place, worker: string, dateMs: number): boolean {
  return holder === undefined && (unfit.get(worker) ?? 0) <= dateMs
}

function isFirst({ hasSlot, isFinished, isReturning, worker }: Place): boolean {
  return worker === undefined && !hasSlot && !isReturning && !isFinished
}
