import type { SessionPool } from '../subagents/pool.ts'

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
