import type { SharedStore } from '../../stores/port.ts'
import type { Clock } from '../loop/clock.ts'

/** How often the store is asked for the ticks of all worlds that are followed: often after news, since more follows soon. */
const firstLookMs = 5
const lookEachMs = 50

interface Watched {
  readonly world: string
  readonly root: string
  /** @param tick the newest; `undefined`: the world is not there */
  readonly hear: (tick: number | undefined) => void
}

/** Asks a store for the newest ticks of all worlds that are followed in this process, with one question for all of them. */
export class TickWatch {
  readonly #store: SharedStore
  readonly #clock: Clock
  readonly #watched = new Set<Watched>()
  #cancel: (() => void) | undefined
  #pauseMs = firstLookMs
  #isLooking = false

  constructor(store: SharedStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Calls a function with the newest tick of a world, again and again, until the returned function ends it. */
  watch(watched: Watched): () => void {
    this.#watched.add(watched)
    this.soon()
    return () => this.#watched.delete(watched)
  }

  /** Something is about to change in one of them. */
  soon(): void {
    this.#pauseMs = firstLookMs
    if (!this.#isLooking) this.#wait()
  }

  #wait(): void {
    this.#cancel?.()
    this.#cancel = this.#clock.at(this.#clock.now() + this.#pauseMs, () => void this.#look())
    this.#pauseMs = Math.min(2 * this.#pauseMs, lookEachMs)
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    const asked = [...this.#watched]
    try {
      const ticks = await this.#store.ticks(asked)
      asked.forEach((watched, index) => this.#watched.has(watched) && watched.hear(ticks[index]))
    } catch {
      // A store that cannot be read now is asked again.
    }
    this.#isLooking = false
    if (this.#watched.size > 0) this.#wait()
  }
}
