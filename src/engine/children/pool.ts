import { EntiaError } from '../../world/entia-error.ts'
import { refuseUnknownOptions } from '../../world/known-options.ts'
import { oneOf, refuseMisfit, text } from '../../world/option-shapes.ts'
import { Slots } from '../effects/slots.ts'

export interface SessionPoolOptions {
  /** Most sessions that hold a slot at once. A whole number of 1 or more. @default 5 */
  readonly cap?: number | undefined
}

/** Defaults of a session pool. */
export const sessionPoolDefaults = { cap: 5 } as const

/** One entering of a session, until it leaves. */
interface Visit {
  readonly place: 'first' | 'return'
  hasSlot: boolean
  /** Gives the slot back, or leaves the line. */
  leave: () => void
}

/** Who may run: at most `cap` sessions at once, in order of arrival. Sessions of any number of worlds share one. */
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

  /** Sessions that hold a slot. */
  get running(): number {
    return this.#slots.running
  }

  /**
   * Waits for a slot. Resolves with true once the session has it, with false if it leaves the line before.
   *
   * @param sessionId any text that no other session in this pool has
   * @param place `first`: behind all. `return`: the session had a slot before, which it gave back or lost in a restart;
   * it goes ahead of all that never had one, behind those that return already
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
      const end = new AbortController()
      const visit: Visit = { place, hasSlot: false, leave: () => end.abort('left') }
      this.#visits.set(sessionId, visit)
      const begin = (leave: () => void): void => {
        visit.hasSlot = true
        visit.leave = leave
        answer(true)
      }
      end.signal.addEventListener('abort', () => answer(false))
      this.#slots.take(begin, { isReturning: place === 'return', signal: end.signal })
    })
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

  /** Gives the slot back, or leaves the line: those behind move up at once. Does nothing for a session in neither. */
  leave(sessionId: string): void {
    const visit = this.#visits.get(sessionId)
    this.#visits.delete(sessionId)
    visit?.leave()
  }
}

/** A session's place in the pool: none, in line, or a slot. */
export class SessionSlot {
  /** The session's, and no other's of the process. */
  readonly #key: string
  readonly #pool: SessionPool
  #entering: Promise<boolean> | undefined

  constructor(pool: SessionPool, key: string) {
    this.#pool = pool
    this.#key = key
  }

  /** Resolves once the session has a slot, which it may have already; with false if it leaves the line before. */
  enter(place: 'first' | 'return'): Promise<boolean> {
    return (this.#entering ??= this.#pool.enter(this.#key, place))
  }

  /** How many wait ahead for a first slot; `undefined` unless the session waits for its first. */
  get position(): number | undefined {
    return this.#pool.position(this.#key)
  }

  /** Gives the slot back, or leaves the line. */
  leave(): void {
    if (this.#entering === undefined) return
    this.#entering = undefined
    this.#pool.leave(this.#key)
  }
}

const places = oneOf('first', 'return')

/** The pool that the Hosts of this process share, and how many of them are on it. */
let shared: { readonly pool: SessionPool; members: number } | undefined

/** A place on the process's pool. */
export interface PoolMembership {
  readonly pool: SessionPool
  /** The last to leave takes the pool and its cap along. Idempotent. */
  readonly leave: () => void
}

/**
 * Joins the one pool of this process. Its cap is that of the first to join; a later one names the same or none.
 *
 * @throws `invalid-argument` for a cap that is none, `cap-conflict` for another one than the pool has
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
