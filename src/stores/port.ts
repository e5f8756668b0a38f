/** One committed tick. `line` is opaque to a store: one line of text without line breaks. */
export interface JournalRow {
  readonly tick: number
  readonly line: string
}

/** What is written together: rows, a snapshot, or both. All batches of one turn of the event loop share a transaction. */
export interface Batch {
  readonly rows?: readonly JournalRow[] | undefined
  /**
   * The world as of `tick`, as opaque lines. Unless the world keeps a recording, it replaces earlier snapshots and the rows up to its tick.
   */
  readonly snapshot?: { readonly tick: number; readonly lines: Iterable<string> } | undefined
}

/** A world as it lies in a store: the newest snapshot and the rows behind it, in order of their ticks. */
export interface StoredWorld {
  readonly snapshot: { readonly tick: number; readonly lines: readonly string[] }
  readonly rows: readonly JournalRow[]
}

export interface WorldInfo {
  readonly name: string
  /** Tick of the newest snapshot or row. */
  readonly tick: number
  /** Bytes of all rows and snapshots kept. */
  readonly sizeBytes: number
}

/** One world, opened for writing. Only one holder at a time has it, on all processes together. */
export interface WorldJournal {
  readonly name: string
  /** `undefined` for a world that has never been written. Fails with `corrupt-journal` if rows are missing in the middle. */
  load(): Promise<StoredWorld | undefined>
  /** The oldest snapshot kept and all rows behind it: a recording, if the world keeps one. */
  recording(): Promise<StoredWorld | undefined>
  /** Resolves once the batch is durable. Order of calls is order of writing. Rejects if it could not be written; then none of it was. */
  commit(batch: Batch): Promise<void>
  /** Gives the world free for the next holder. Idempotent. Waits for commits under way. */
  close(): Promise<void>
}

export interface OpenOptions {
  /** Who holds it, for the error that the next opener gets. */
  readonly holder?: string | undefined
  /** Keep all rows and the first snapshot, so that the run can be replayed. @default false */
  readonly record?: boolean | undefined
  /** The world in whose database it lies; absent: its own. */
  readonly root?: string | undefined
}

/**
 * Where snapshots and journals are kept. A store knows nothing of worlds beyond names, ticks and lines.
 *
 * Errors are `EntiaError`: `world-locked` names the holder, `no-such-world`, `store-closed`, `corrupt-journal`, `newer-version`.
 */
export interface Store {
  /** @throws `world-locked` when another holder, in this or another process, has it. A dead holder's lock is free at once. */
  open(world: string, options?: OpenOptions): Promise<WorldJournal>
  list(): Promise<readonly WorldInfo[]>
  /** Removes a world and everything kept of it, its children's worlds included. @throws `no-such-world`, `world-locked` */
  delete(world: string): Promise<void>
  /** Closes everything that was opened. Idempotent. */
  close(): Promise<void>
}
