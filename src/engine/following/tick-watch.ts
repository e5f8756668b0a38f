import type { SharedStore } from '../../stores/port.ts'
import type { Clock } from '../loop/clock.ts'

/** How often the store is asked for the ticks of all worlds that are followed. */
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

  constructor(store: SharedStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Calls a function with the newest tick of a world, again and again, until the returned function ends it. */
  watch(watched: Watched): () => void {
    this.#watched.add(watched)
    if (this.#cancel === undefined) this.#wait()
    return () => this.#watched.delete(watched)
  }

  #wait(): void {
    this.#cancel = this.#clock.at(this.#clock.now() + lookEachMs, () => void this.#look())
  }

  async #look(): Promise<void> {
    const asked = [...this.#watched]
    try {
      const ticks = await this.#store.ticks(asked)
      asked.forEach((watched, index) => this.#watched.has(watched) && watched.hear(ticks[index]))
    } catch {
      // A store that cannot be read now is asked again.
    }
    this.#cancel = undefined
    if (this.#watched.size > 0) this.#wait()
  }
}
