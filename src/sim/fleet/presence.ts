import type { Abilities } from '../../engine/effects/host.ts'
import { hadByAny } from '../../engine/fleet/board.ts'
import type { BoardEvent } from '../law.ts'

export interface PresenceOptions {
  /** Milliseconds since 1970. */
  readonly date: () => number
  /** @default without limit */
  readonly leaseMs?: number | undefined
  readonly told: (event: BoardEvent) => void
}

/**
 * Which workers live, as a database knows it: whose connection is there, and who was heard within the lease. Who is thought
 * dead is so until the next beat.
 */
export class Presence {
  readonly #options: PresenceOptions
  readonly #seenMs = new Map<string, number>()
  readonly #known = new Set<string>()
  readonly #said = new Map<string, Abilities>()

  constructor(options: PresenceOptions) {
    this.#options = options
  }

  enter(worker: string): void {
    this.#known.add(worker)
    this.#seenMs.set(worker, this.#options.date())
  }

  /** A worker tells the others what it has. */
  says(worker: string, abilities: Abilities): void {
    this.#said.set(worker, abilities)
  }

  /** What any of those has that live. */
  get has(): Abilities {
    return hadByAny([...this.#said].flatMap(([worker, abilities]) => (this.isAlive(worker) ? abilities : [])))
  }

  /** Enters a worker again that was thought dead, so that it is not so a second time. */
  beat(worker: string): void {
    this.enter(worker)
  }

  /** Its connection is gone. */
  leave(worker: string): void {
    this.#seenMs.delete(worker)
    this.#options.told({ type: 'gone', worker })
  }

  suspect(worker: string): void {
    if (this.#seenMs.delete(worker)) this.#options.told({ type: 'suspected', worker })
  }

  get living(): readonly string[] {
    return [...this.#seenMs.keys()].filter((worker) => this.isAlive(worker))
  }

  /** It was a worker once: others that hold a world for a moment, to write it or wake it, are left alone. */
  isLost(holder: string): boolean {
    return this.#known.has(holder) && !this.isAlive(holder)
  }

  isAlive(worker: string): boolean {
    const { date, leaseMs = Infinity } = this.#options
    const seenMs = this.#seenMs.get(worker)
    return seenMs !== undefined && date() - seenMs < leaseMs
  }

  /** Forgets who was not heard for too long. True: somebody was. */
  sweep(): boolean {
    const late = [...this.#seenMs.keys()].filter((worker) => !this.isAlive(worker))
    for (const worker of late) this.#seenMs.delete(worker)
    return late.length > 0
  }
}
