import type { SharedStore, WrittenText } from '../../stores/port.ts'
import type { Clock } from '../loop/clock.ts'

/** How often the store is asked for the ticks of all worlds that are followed: often after news, since more follows soon. */
const firstLookMs = 5
const lookEachMs = 50
/** Texts are written no more often. */
const textsEachMs = 90
/** A store that refuses to tell what models stream, perhaps for want of rights, is left alone for so long. */
const refusedMs = 5_000

interface Watched {
  readonly world: string
  readonly root: string
  /** The newest text that is known of what models stream there; `undefined`: nobody wants to know. */
  readonly textsAfter: () => number | undefined
  /**
   * @param tick the newest; `undefined`: the world is not there
   * @param texts what models have streamed since
   */
  readonly hear: (tick: number | undefined, texts: readonly WrittenText[]) => void
}

/**
 * Asks a store for the newest ticks of all worlds that are followed in this process, with one question for all of them, and for
 * what models stream in those where somebody wants to know.
 */
export class TickWatch {
  readonly #store: SharedStore
  readonly #clock: Clock
  readonly #watched = new Set<Watched>()
  #cancel: (() => void) | undefined
  #pauseMs = firstLookMs
  #isLooking = false
  #nextTextsAtMs = -Infinity

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
      const [ticks, texts] = await Promise.all([this.#store.ticks(asked), this.#texts(asked)])
      asked.forEach(
        (watched, index) => this.#watched.has(watched) && watched.hear(ticks[index], texts.get(watched) ?? []),
      )
    } catch {
      // A store that cannot be read now is asked again.
    }
    this.#isLooking = false
    if (this.#watched.size > 0) this.#wait()
  }

  async #texts(asked: readonly Watched[]): Promise<ReadonlyMap<Watched, readonly WrittenText[]>> {
    const { streams } = this.#store
    const nowMs = this.#clock.now()
    const wanted = asked.flatMap((watched) => {
      const after = watched.textsAfter()
      return after === undefined ? [] : { watched, world: watched.world, root: watched.root, after }
    })
    if (streams === undefined || wanted.length === 0 || nowMs < this.#nextTextsAtMs) return new Map()
    this.#nextTextsAtMs = nowMs + textsEachMs
    try {
      const texts = await streams.watch(wanted)
      return new Map(wanted.map(({ watched }, index) => [watched, texts[index] ?? []]))
    } catch {
      // What is committed comes all the same.
      this.#nextTextsAtMs = this.#clock.now() + refusedMs
      return new Map()
    }
  }
}
