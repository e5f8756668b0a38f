import type { OpenOptions, WorldJournal } from './port.ts'
import { GroupCommit } from './group-commit.ts'
import { lockedError } from './holder.ts'
import type { Holder } from './holder.ts'
import type { Database, KeptText } from './medium.ts'
import { OpenWorld } from './open-world.ts'

/** An open database and those of its worlds that are held. It is closed with the last of them, once its texts are put. */
export class Shelf {
  readonly database: Database
  readonly #commits: GroupCommit
  readonly #held = new Map<string, OpenWorld>()
  readonly #puts = new Set<Promise<void>>()
  readonly #onEmpty: () => void

  constructor(database: Database, onEmpty: () => void) {
    this.database = database
    this.#commits = new GroupCommit(database)
    this.#onEmpty = onEmpty
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
    await Promise.allSettled(this.#puts)
  }

  #closeIfUnused(): void {
    if (this.#held.size === 0 && this.#puts.size === 0) this.#onEmpty()
  }
}
