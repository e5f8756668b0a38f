import type { Letter, SharedJournal, SharedStore } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** Letters that are read ahead of the ticks that take them. */
const maxWaiting = 1_000

/** The letters of a world that is held in a store which many processes share. */
export interface Mail {
  readonly store: SharedStore
  readonly journal: SharedJournal
  readonly root: string
  /** The agent that a letter means which names none. @default the only one of the world */
  readonly agentOf?: ((world: World) => Entity) | undefined
}

export interface LetterBoxOptions extends Mail {
  /** Gets each letter once. What it does with it says when the letter may go. */
  readonly take: (letter: Letter) => void
}

/** Reads the letters that lie in a store for a world that is driven: those that wait at the start, and those that come. */
export class LetterBox {
  readonly #options: LetterBoxOptions
  /** Ids of letters that were given out and may still lie in the store. */
  #given = new Set<number>()
  #isReading = false
  #readAgain = false
  /** The last reading was cut off by the limit. */
  #isMore = false
  #deaf: (() => void) | undefined
  #isClosed = false

  constructor(options: LetterBoxOptions) {
    this.#options = options
  }

  open(): void {
    const { journal, root, store } = this.#options
    const hear = (ofRoot: string, world: string): void => {
      if (ofRoot === root && world === journal.name) this.look()
    }
    this.#deaf = store.on('letter', hear, { root, world: journal.name })
    this.look()
  }

  /** After a commit: there may be room for more. */
  committed(): void {
    if (this.#isMore) this.look()
  }

  close(): void {
    this.#isClosed = true
    this.#deaf?.()
  }

  look(): void {
    this.#readAgain = true
    if (!this.#isReading) void this.#read()
  }

  async #read(): Promise<void> {
    this.#isReading = true
    while (this.#readAgain && !this.#isClosed) {
      this.#readAgain = false
      try {
        this.#give(await this.#options.journal.letters(maxWaiting))
      } catch {
        // A store that fails, or has another holder now, says so at the next commit. What waits is read at the next call.
      }
    }
    this.#isReading = false
  }

  #give(letters: readonly Letter[]): void {
    if (this.#isClosed) return
    const before = this.#given
    this.#given = new Set(letters.map(({ id }) => id))
    this.#isMore = letters.length === maxWaiting
    const lastId = letters.at(-1)?.id ?? 0
    // Older ones that came late push others out of a reading that is cut off.
    if (this.#isMore) for (const id of before) if (id > lastId) this.#given.add(id)
    for (const letter of letters) if (!before.has(letter.id)) this.#options.take(letter)
  }
}
