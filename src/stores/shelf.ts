import type { OpenOptions, WorldJournal } from './port.ts'
import { GroupCommit } from './group-commit.ts'
import { lockedError } from './holder.ts'
import type { Holder } from './holder.ts'
import type { Database, KeptText, Transcripts } from './medium.ts'
import { OpenWorld } from './open-world.ts'

/**
 * An open database and those of its worlds that are held. It is closed with the last of them, once its texts are put and
 * nothing is done with its transcripts.
 */
export class Shelf {
  readonly database: Database
  readonly #commits: GroupCommit
  readonly #held = new Map<string, OpenWorld>()
  readonly #puts = new Set<Promise<void>>()
  /** Resolves when the last of what is to be done with transcripts is done. */
  #transcriptsDone: Promise<void> | undefined
  readonly #onEmpty: () => void

  constructor(database: Database, onEmpty: () => void) {
    this.database = database
    this.#commits = new GroupCommit(database)
    this.#onEmpty = onEmpty
  }

  /** Without a held world it is only open for what is under way. */
  get isHeld(): boolean {
    return this.#held.size > 0
  }

  /** @throws `world-locked` */
  open(name: string, holder: Holder, options: OpenOptions): WorldJournal {
    this.assertFree(name)
    const world = new OpenWorld({
      name,
      holder,
      record: options.record ?? false,
      database: this.database,
      commits: this.#commits,
      onClosed: () => {
        this.#held.delete(name)
        this.#closeIfUnused()
      },
    })
    this.#held.set(name, world)
    return world
  }

  putText(text: KeptText): Promise<void> {
    const put = this.#commits.putText(text).finally(() => {
      this.#puts.delete(put)
      this.#closeIfUnused()
    })
    this.#puts.add(put)
    return put
  }

  /** Does one thing after the other, in the order of the calls. */
  withTranscripts<T>(act: (transcripts: Transcripts) => Promise<T>): Promise<T> {
    const result = (this.#transcriptsDone ?? Promise.resolve()).then(() => act(this.database.transcripts))
    const done = this.#closeBehind(result, () => this.#transcriptsDone === done)
    this.#transcriptsDone = done
    return done.then(() => result)
  }

  /** Resolves once nothing of texts and transcripts is under way any more that was when it was called. */
  async quiet(): Promise<void> {
    await Promise.allSettled(this.#puts)
    await this.#transcriptsDone
  }

  /** Resolves once all that was committed or put before is written or refused. */
  settled(): Promise<void> {
    return this.#commits.settled()
  }

  /** @throws `world-locked` if the world is held; without a name, if any is. */
  assertFree(name?: string): void {
    const held = name === undefined ? [...this.#held.values()][0] : this.#held.get(name)
    if (held) throw lockedError(held.name, held.holder, this.database.place)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.values()].map((world) => world.close()))
    await this.quiet()
  }

  async #closeBehind(work: Promise<unknown>, isLast: () => boolean): Promise<void> {
    await Promise.allSettled([work])
    if (!isLast()) return
    this.#transcriptsDone = undefined
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.#held.size === 0 && this.#puts.size === 0 && this.#transcriptsDone === undefined) this.#onEmpty()
  }
}
