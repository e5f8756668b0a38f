import type { JournalRow, Letter, LostTicks, StoredWorld, TranscriptHit, TranscriptLine, WorldInfo } from './port.ts'
import type { LockOwner } from './lock-owner.ts'

/** A copy of a batch, as a database writes it. */
export interface Write {
  readonly world: string
  readonly rows: readonly JournalRow[]
  readonly snapshot: StoredWorld['snapshot'] | undefined
  /** Whether earlier rows and snapshots stay when a snapshot comes. */
  readonly record: boolean
  readonly isBusy: boolean | undefined
  readonly epoch: number
  /** The first of its holder: it enters the epoch. */
  readonly isFirst: boolean
  readonly taken: readonly number[]
  readonly sent: readonly LetterTo[]
}

/** A letter for a world of the same root. */
export interface LetterTo {
  readonly world: string
  readonly line: string
  readonly id: string | undefined
}

export interface KeptText {
  readonly key: string
  readonly text: string
}

/** What is known of a written world without reading it. */
export interface JournalHead {
  /** Tick of the oldest snapshot kept. */
  readonly oldestSnapshot: number
  readonly newestSnapshot: number
  /** Tick of the newest row or snapshot. */
  readonly tick: number
}

export interface Holding {
  readonly epoch: number
  readonly wakeAtMs: number | undefined
}

/** Lines for a transcript, as copies, and the place of the first of them. */
export interface Append {
  readonly key: string
  readonly lines: readonly TranscriptLine[]
  readonly from: number
}

/** The transcripts of one root, under keys that were checked. No two calls are ever under way at once. */
export interface Transcripts {
  /** If it rejects, nothing of it is there. @param append has one line or more */
  append(append: Append): Promise<void>
  read(key: string): Promise<readonly string[] | undefined>
  /** @param words one or more, without any meaning to a search engine */
  search(keys: readonly string[], words: readonly string[], limit: number): Promise<readonly TranscriptHit[]>
  remove(key: string): Promise<void>
}

/** The worlds of one root, which lie together. Every call but those to its transcripts is synchronous. */
export interface Database {
  readonly place: string
  /** What they are doing has ended before the database is closed. */
  readonly transcripts: Transcripts
  head(world: string): JournalHead | undefined
  lostTicks(world: string): LostTicks | undefined
  /** Writes all or, if it throws, nothing. */
  write(writes: readonly Write[], texts: readonly KeptText[], letters?: readonly LetterTo[]): void
  /** The epoch of the last holder that has written, and when the world is due; 0: it was never written. */
  holding(world: string): Holding
  /** Enters when a world is due that nobody holds; `undefined`: not by itself. */
  park(world: string, wakeAtMs: number | undefined): void
  /** The oldest letters that wait for a world. */
  letters(world: string, limit: number): readonly Letter[]
  read(world: string, from: 'newest' | 'oldest'): StoredWorld | undefined
  /** From the newest snapshot at or before `from`, up to `to`; `undefined` if no snapshot is so old. */
  readPart(world: string, from: number, to: number): StoredWorld | undefined
  /** Those that are kept, in order. */
  rowsBehind(world: string, tick: number, to: number): readonly JournalRow[]
  text(key: string): string | undefined
  /** Removes what is kept of one world, texts and transcripts aside; `false` if that is nothing. */
  remove(world: string): boolean
  /** @param sizes whether to sum up what is kept */
  list(sizes: boolean): readonly WorldInfo[]
  close(): void
}

/** Where the databases of root worlds are: all that the two stores differ in. */
export interface Medium {
  /** Other processes may write to its databases. */
  readonly isShared: boolean
  has(root: string): boolean
  roots(): readonly string[]
  /** Makes the database if absent. Without an owner it is only read, and closed at once. @throws `world-locked` */
  open(root: string, owner?: LockOwner): Database
  /** What is there now, as of one instant, without its lock. Only read, and closed at once. */
  view(root: string): Database
  /** To write letters to a database that is there, without its lock. Closed at once. */
  beside(root: string): Database
  /** Who has the database open in another process. */
  holder(root: string): LockOwner | undefined
  /** Names another owner of an open database in the errors of those who are refused. */
  passTo(root: string, owner: LockOwner): void
  /** Removes the database whole, with its transcripts. @throws `world-locked` */
  remove(root: string): void
  /** What a database takes up that cannot be opened. */
  sizeBytes(root: string): number
}
