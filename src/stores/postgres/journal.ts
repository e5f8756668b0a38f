import { EntiaError } from '../../base/entia-error.ts'
import { checkedBatch } from '../check-arguments.ts'
import type { LockOwner } from '../lock-owner.ts'
import { fencedError } from '../order.ts'
import type { FirstSnapshot, Letter, SharedBatch, SharedJournal, StoredWorld } from '../port.ts'
import type { CommitQueue, HeldWorld } from './commit-queue.ts'
import type { WorldPlace } from './place.ts'
import type { Part, StoredWorlds } from './stored-world.ts'

export interface PostgresJournalParts {
  readonly held: HeldWorld
  readonly at: WorldPlace
  readonly owner: LockOwner
  readonly commits: CommitQueue
  readonly worlds: StoredWorlds
  /** Writes another world of its root, as its holder. */
  readonly place: (first: FirstSnapshot) => Promise<boolean>
  /** Gives the world free. */
  readonly park: (held: HeldWorld, wakeAtMs: number | undefined) => Promise<void>
  readonly onClosed: () => void
}

/** A world in Postgres, held by this store. */
export class PostgresJournal implements SharedJournal {
  readonly name: string
  readonly epoch: number
  readonly openedAtTick: number | undefined
  readonly wasDueMs: number | undefined
  readonly owner: LockOwner
  readonly lost: undefined
  readonly #parts: PostgresJournalParts
  #closing: Promise<void> | undefined

  constructor(parts: PostgresJournalParts) {
    this.name = parts.held.name
    this.epoch = parts.held.epoch
    this.openedAtTick = parts.held.head?.tick
    this.wasDueMs = parts.held.wasDueMs
    this.owner = parts.owner
    this.#parts = parts
  }

  load(): Promise<StoredWorld | undefined> {
    return this.#read('newest')
  }

  recording(): Promise<StoredWorld | undefined> {
    return this.#read('oldest')
  }

  async commit(batch: SharedBatch): Promise<void> {
    this.#assertOpen()
    const { commits, held } = this.#parts
    const checked = checkedBatch(batch, this.name, held.record)
    const { rows, sent, snapshot, taken } = checked
    if (rows.length + sent.length + taken.length === 0 && !snapshot) return commits.settled()
    return commits.commit(held, checked)
  }

  async letters(limit = Infinity): Promise<readonly Letter[]> {
    await this.#settled()
    const { at, worlds } = this.#parts
    return worlds.letters(this.name, at, this.epoch, limit)
  }

  async place(first: FirstSnapshot): Promise<boolean> {
    await this.#settled()
    // What is sent again after a lost answer finds the world there.
    return this.#parts.place({ ...first, lines: [...first.lines] })
  }

  close({ wakeAtMs }: { readonly wakeAtMs?: number | undefined } = {}): Promise<void> {
    this.#closing ??= this.#close(wakeAtMs)
    return this.#closing
  }

  async #close(wakeAtMs: number | undefined): Promise<void> {
    const { commits, held, onClosed, park } = this.#parts
    try {
      await commits.settled()
      if (!held.isFenced) await park(held, wakeAtMs)
    } finally {
      onClosed()
    }
  }

  async #read(from: Part['from']): Promise<StoredWorld | undefined> {
    await this.#settled()
    const { at, worlds } = this.#parts
    return worlds.read(this.name, at, { from, to: undefined, epoch: this.epoch })
  }

  async #settled(): Promise<void> {
    this.#assertOpen()
    const { commits, held } = this.#parts
    await commits.settled()
    if (held.isFenced) throw fencedError(this.name, this.epoch)
  }

  #assertOpen(): void {
    if (!this.#closing) return
    throw new EntiaError('store-closed', `The world '${this.name}' is closed. Open it again with store.open().`, {
      world: this.name,
    })
  }
}
