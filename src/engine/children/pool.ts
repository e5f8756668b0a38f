import { EntiaError } from '../../base/entia-error.ts'
import { refuseUnknownOptions } from '../../base/known-options.ts'
import { oneOf, refuseMisfit, text } from '../../base/option-shapes.ts'
import { Slots } from '../effects/slots.ts'

/** Options of `new SessionPool`. */
export interface SessionPoolOptions {
  /** Most sessions that hold a slot at once, an integer ≥ 1. @default 5 */
  readonly cap?: number | undefined
}

/** What holds for a session pool where its options say nothing. */
export const sessionPoolDefaults = { cap: 5 } as const

interface Visit {
  readonly place: 'first' | 'return'
  hasSlot: boolean
  leave: () => void
}

/** Lets at most `cap` sessions run at once, in order of arrival. Sessions of any number of worlds share one. */
export class SessionPool {
  readonly cap: number
  /** In order of arrival. */
  readonly #visits = new Map<string, Visit>()
  readonly #slots: Slots

  /** @throws `invalid-argument` */
  constructor(options: SessionPoolOptions = {}) {
    refuseUnknownOptions('SessionPool', options, ['cap'])
    this.cap = checkedCap(options.cap ?? sessionPoolDefaults.cap)
    this.#slots = new Slots(this.cap)
  }

  get running(): number {
    return this.#slots.running
  }

  /**
   * Waits for a slot. Resolves with true once the session has it, with false if it leaves the queue before.
   * @param sessionId unique in this pool
   * @param place `return`: the session had a slot before; it goes ahead of all that never had one, behind others that return
   * @throws `invalid-argument`, also if the session holds a slot or waits for one
   */
  enter(sessionId: string, place: 'first' | 'return'): Promise<boolean> {
    refuseMisfit('SessionPool.enter', 'sessionId', sessionId, text)
    refuseMisfit('SessionPool.enter', 'place', place, places)
    const present = this.#visits.get(sessionId)
    if (present) {
      throw new EntiaError(
        'invalid-argument',
        `The session '${sessionId}' ${present.hasSlot ? 'holds a slot' : 'waits for a slot'} already. ` +
          'It may enter again after it has left the pool.',
        { sessionId },
      )
    }
    return new Promise((answer) => {
      const visit: Visit = { place, hasSlot: false, leave: () => answer(false) }
      this.#visits.set(sessionId, visit)
      const begin = (leave: () => void): void => {
        // It left while it waited.
        if (this.#visits.get(sessionId) !== visit) return leave()
        visit.hasSlot = true
        visit.leave = leave
        answer(true)
      }
      this.#slots.take(begin, place === 'return')
    })
  }

  /** Those that wait for a slot, in the order in which they get one. */
  get line(): readonly string[] {
    const waiting = [...this.#visits].filter(([, { hasSlot }]) => !hasSlot)
    const { first = [], return: returning = [] } = Object.groupBy(waiting, ([, { place }]) => place)
    return [...returning, ...first].map(([sessionId]) => sessionId)
  }

  /** How many wait ahead of it for a first slot; `undefined` unless it waits for its own first. Looks at all of them. */
  position(sessionId: string): number | undefined {
    const own = this.#visits.get(sessionId)
    if (!own || !waitsForFirst(own)) return undefined
    let ahead = 0
    for (const visit of this.#visits.values()) {
      if (visit === own) break
      if (waitsForFirst(visit)) ahead++
    }
    return ahead
  }

  /** Gives the slot back, or leaves the queue. Idempotent. */
  leave(sessionId: string): void {
    const visit = this.#visits.get(sessionId)
    this.#visits.delete(sessionId)
    visit?.leave()
  }
}

/** A session's place in a pool, of this process or of a fleet. */
export interface Slot {
  /** Resolves with true once the session has a slot, with false if it leaves before. */
  enter(place: 'first' | 'return'): Promise<boolean>
  /** Gives the slot back, or leaves the line. Idempotent. */
  leave(): void
}

/** A session's place in the pool: none, in line, or a slot. */
export class SessionSlot implements Slot {
  /** The session's, and no other's of the process. */
  readonly #key: string
  readonly #pool: SessionPool
  #entering: Promise<boolean> | undefined

  constructor(pool: SessionPool, key: string) {
    this.#pool = pool
    this.#key = key
  }

  enter(place: 'first' | 'return'): Promise<boolean> {
    return (this.#entering ??= this.#pool.enter(this.#key, place))
  }

  get position(): number | undefined {
    return this.#pool.position(this.#key)
  }

  leave(): void {
    if (this.#entering === undefined) return
    this.#entering = undefined
    this.#pool.leave(this.#key)
  }
}

const places = oneOf('first', 'return')

/** The pool that the Hosts of this process share, and how many of them are on it. */
let shared: { readonly pool: SessionPool; members: number } | undefined

export interface PoolMembership {
  readonly pool: SessionPool
  /** The last to leave takes the pool and its cap along. Idempotent. */
  readonly leave: () => void
}

/**
 * Joins the one pool of this process. Its cap is that of the first to join; a later one names the same or none.
 * @throws `invalid-argument`, `cap-conflict`
 */
export function joinProcessPool(cap?: number): PoolMembership {
  if (cap !== undefined) checkedCap(cap)
  const joined = (shared ??= { pool: new SessionPool({ cap }), members: 0 })
  const existing = joined.pool.cap
  if (cap !== undefined && cap !== existing) {
    throw new EntiaError('cap-conflict', `Conflicting session pool cap: existing=${existing}, requested=${cap}`, {
      existing,
      requested: cap,
    })
  }
  joined.members++
  let isMember = true
  const leave = (): void => {
    if (!isMember) return
    isMember = false
    joined.members--
    if (joined.members === 0) shared = undefined
  }
  return { pool: joined.pool, leave }
}

function waitsForFirst({ place, hasSlot }: Visit): boolean {
  return place === 'first' && !hasSlot
}

function checkedCap(cap: number): number {
  if (Number.isSafeInteger(cap) && cap >= 1) return cap
  const got = typeof cap === 'number' ? String(cap) : typeof cap
  throw new EntiaError('invalid-argument', `The cap of a session pool must be an integer ≥ 1, got ${got}.`, { cap })
}
