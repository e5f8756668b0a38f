import type { EntiaError } from '../base/entia-error.ts'
import type { LockOwner } from './lock-owner.ts'

/** One committed tick. `line` is opaque to a store: one line of text without line breaks. */
export interface JournalRow {
  readonly tick: number
  readonly line: string
}

/**
 * What is written together: rows, a snapshot, or both. All batches of one turn of the event loop, of all worlds that lie
 * in one database, share a transaction.
 */
export interface Batch {
  readonly rows?: readonly JournalRow[] | undefined
  /**
   * The world as of `tick`, as opaque lines. It replaces earlier snapshots and the rows up to its tick; in a world that keeps
   * a recording it is one more. The lines are read before `commit` returns, so they may come from a living world. The first
   * batch of a world needs a snapshot.
   */
  readonly snapshot?: { readonly tick: number; readonly lines: Iterable<string> } | undefined
  /** Whether the world has work in flight after its newest tick, for `list()`. @default undefined: not known */
  readonly isBusy?: boolean | undefined
}

/** What waits in a store for a world, to be taken by one of its ticks. */
export interface Letter {
  /** Ascending in the order in which the store took them. */
  readonly id: number
  /** One line of text, opaque to a store. */
  readonly line: string
}

/** Longest letter, in bytes. What is longer is kept as a text or in a World, and the letter says so. */
export const maxLetterBytes = 4_000_000

/** A letter to be sent. */
export interface Post {
  /** Whom it is for. The world need not exist yet. */
  readonly world: string
  /** The root world in whose database it lies; absent: its own. */
  readonly root?: string | undefined
  readonly line: string
  /** While a letter to the world under this id waits, a further one is dropped. @default each counts */
  readonly id?: string | undefined
}

/** What is written together in a `SharedStore`; letters alone, too. */
export interface SharedBatch extends Batch {
  /** Ids of letters that these ticks have taken: they are removed. */
  readonly taken?: readonly number[] | undefined
  /** Letters that these ticks send. To worlds of other roots they go only in a store that keeps all roots in one database. */
  readonly sent?: readonly Post[] | undefined
}

/** Committed ticks of a world that are missing in its store. */
export interface LostTicks {
  /** The newest tick that is there; `undefined`: nothing is. */
  readonly tick: number | undefined
  /** The newest tick that was committed, as far as is known. */
  readonly newestTick: number
}

/** A world as it lies in a store: the newest snapshot and the rows behind it, in order of their ticks. */
export interface StoredWorld {
  readonly snapshot: { readonly tick: number; readonly lines: readonly string[] }
  readonly rows: readonly JournalRow[]
}

/** What a store knows of a world without opening it. */
export interface WorldInfo {
  readonly name: string
  /** The root in whose database it lies; absent: its own. A child is opened by naming it. */
  readonly root?: string | undefined
  /** Tick of the newest snapshot or row. `undefined` where it cannot be read. */
  readonly tick: number | undefined
  /**
   * Whether it had work in flight (effects pending, running or due) after its newest tick: it continues when a Runner opens
   * it; the others wait for a message. `undefined` for unreadable worlds and those of an older version.
   */
  readonly isBusy?: boolean | undefined
  /** It has work in flight that only waits, so that its holder has left it: a letter wakes it, or `wakeAtMs`. @default not known */
  readonly isParked?: true | undefined
  /** Who has it open now, in this process or another; absent: nobody. */
  readonly heldBy?: LockOwner | undefined
  /** How many letters wait for it. @default none */
  readonly letters?: number | undefined
  /** When it is due to be opened, in milliseconds since 1970. */
  readonly wakeAtMs?: number | undefined
  /** Why no worker drives it until it is released; absent: it is not in quarantine. */
  readonly quarantine?: string | undefined
  /** Bytes of all rows and snapshots kept; of the whole database where it cannot be read. `undefined`: not asked for. */
  readonly sizeBytes: number | undefined
  /**
   * Why it cannot be read now: `world-locked` by a holder elsewhere, `newer-version`, `corrupt-journal` … Its children
   * are not listed then.
   */
  readonly unreadable?: EntiaError | undefined
}

/** The first snapshot of a world, to be written unless the world is there. */
export interface FirstSnapshot {
  readonly world: string
  readonly tick: number
  readonly lines: Iterable<string>
  /** Whether it has work in flight. @default undefined: not known */
  readonly isBusy?: boolean | undefined
}

/** One world, opened for writing. Only one holder at a time has it, on all processes together. */
export interface WorldJournal {
  readonly name: string
  /**
   * Set where the store knows of newer ticks than there are: its log or its newest rows were deleted, a backup was put
   * in its place, or a power cut took commits that were not synced. The world can be used all the same.
   */
  readonly lost?: LostTicks | undefined
  /**
   * The world with all that was committed before the call; `undefined` if it has never been written. Rejects with
   * `corrupt-journal` if rows are missing in the middle, with `corrupt-snapshot` if lines of the snapshot are.
   */
  load(): Promise<StoredWorld | undefined>
  /** The oldest snapshot kept and all rows behind it: a recording, if the world keeps one. */
  recording(): Promise<StoredWorld | undefined>
  /**
   * Resolves once the batch is durable. Order of calls is order of writing. If it rejects, none of it was written: with
   * `invalid-argument` if its ticks do not follow those that are there, and then it alone; with `store-failed` if the
   * transaction failed, and then with all that shared it.
   */
  commit(batch: Batch): Promise<void>
  /** Gives the world free for the next holder. Idempotent. Waits for commits under way. */
  close(): Promise<void>
}

/** A world of a `SharedStore`, opened for writing. */
export interface SharedJournal extends WorldJournal {
  /**
   * Higher than that of every earlier holder that has committed anything. Once the world has been seized, each commit is
   * refused with `world-fenced`, which is final: a later holder went on from what was committed before.
   */
  readonly epoch: number
  /** The newest tick that was committed when it was opened; `undefined`: it was never written. */
  readonly openedAtTick: number | undefined
  /** When it was due to be opened, as its last holder has left it, in milliseconds since 1970; `undefined`: it did not say, or died. */
  readonly wasDueMs: number | undefined
  commit(batch: SharedBatch): Promise<void>
  /** Letters that wait for the world, in the order of their ids. @param limit the oldest so many. @default all */
  letters(limit?: number): Promise<readonly Letter[]>
  /**
   * Writes another world of the same root, which then has no holder. A holder that was succeeded writes none: its successor has
   * perhaps removed that world, and would not know of it.
   * @returns false where it is written already
   * @throws `world-fenced`
   */
  place(first: FirstSnapshot): Promise<boolean>
  /** @param options `wakeAtMs`: the world is due to be opened at that instant, in milliseconds since 1970 */
  close(options?: { readonly wakeAtMs?: number | undefined }): Promise<void>
}

/** A line of a transcript, as it is appended. */
export interface TranscriptLine {
  /** One JSON object on one line. A store keeps it byte for byte, and does not look into it. */
  readonly text: string
  /** The words that a search finds it by. @default undefined: no search finds it */
  readonly searchable?: string | undefined
}

/** A line of a transcript that a search has found. */
export interface TranscriptHit {
  readonly key: string
  /** Its place in the transcript, from 0. */
  readonly index: number
  readonly text: string
}

/** Which part of a world is read. */
export interface ReadOptions {
  /** The newest snapshot at or before this tick, and the rows behind it. @default `to` */
  readonly from?: number | undefined
  /** No row behind this tick. @default the newest tick */
  readonly to?: number | undefined
  /** The root world in whose database it lies; absent: its own. */
  readonly root?: string | undefined
}

/** Which rows are read. */
export interface RowsOptions {
  readonly after: number
  /** No row behind this tick. @default the newest tick */
  readonly to?: number | undefined
  /** The root world in whose database it lies; absent: its own. */
  readonly root?: string | undefined
}

/** Which worlds are listed. */
export interface ListOptions {
  /** Only this root world and those that lie in its database. @default all */
  readonly root?: string | undefined
  /** At most so many root worlds, the first ones by name as the store keeps it, with those in their databases. @default all */
  readonly limit?: number | undefined
  /** Whether to sum up what is kept of each world, for which a file is read whole. @default true */
  readonly sizes?: boolean | undefined
}

/** How a world is opened in a store. */
export interface OpenOptions {
  /** Who holds it, for the error that the next opener gets. */
  readonly holder?: string | undefined
  /** Keep all rows and snapshots, so that the run can be replayed and read as of any tick. @default false */
  readonly record?: boolean | undefined
  /** The root world in whose database it lies, that of a grandchild too; absent: its own. */
  readonly root?: string | undefined
}

/** How a world is opened in a `SharedStore`. */
export interface SharedOpenOptions extends OpenOptions {
  /**
   * Take it from the holder that it has, whose commits are refused from then on. Files are locked by the operating system: a
   * world in them that another process holds is `world-locked` all the same. @default false
   */
  readonly seize?: boolean | undefined
}

/**
 * Where snapshots and journals are kept. A store knows nothing of worlds beyond names, ticks and lines.
 *
 * Errors are `EntiaError`: `world-locked` names the holder, `no-such-world`, `store-closed`, `store-failed`,
 * `corrupt-journal`, `corrupt-snapshot`, `newer-version`, `invalid-argument`, `config-invalid`.
 */
export interface Store {
  /**
   * Opens a world for the one holder that it can have. A dead holder's lock is free at once.
   * @throws `world-locked` when another holder, in this or another process, has it
   */
  open(world: string, options?: OpenOptions): Promise<WorldJournal>
  /**
   * Reads a world without holding it, whoever holds it: what was committed before the call, as of one instant. `undefined` if
   * it is not there. Takes no lock, so that no holder waits for it or is refused because of it.
   * @throws `invalid-argument` for ticks that are not kept any more and for `from` behind `to`; `world-locked` where the
   * database is held by a version of this package that does not share it
   */
  read(world: string, options?: ReadOptions): Promise<StoredWorld | undefined>
  /** Worlds by name, without holding them. Each root world takes a look at its database. */
  list(options?: ListOptions): Promise<readonly WorldInfo[]>
  /**
   * Keeps a text beside a root world under a key of the root's own, replacing the last. Resolves once it is durable. The
   * world need not exist or be open; while this store holds it, the text shares a transaction with commits of the same turn.
   * It counts in no `sizeBytes`.
   * @throws `invalid-argument` for an empty key or text that is not well-formed, `world-locked` when the root is held
   * elsewhere
   */
  putText(root: string, key: string, text: string): Promise<void>
  /** The text as put before the call. @throws `world-locked` when the root is held elsewhere */
  getText(root: string, key: string): Promise<string | undefined>
  /**
   * Appends lines to a transcript, made with its first line. Resolves once they are durable, in order of the calls. Lines
   * that exist are not written again, so an append can be repeated. If it rejects, nothing is written; after a crash, whole
   * lines from its beginning may be. The root world need not exist or be open.
   * @param key a relative path such as `agents/subagent-7/sessions/7.jsonl`: names joined by `/`, none `.` or `..`, without
   * backslash, colon and NUL; only the last one ends in `.jsonl`
   * @param options `from`: the place of the first of these lines, from 0
   * @throws `invalid-argument` for such a key or line, for a gap, and for a text that differs from the one there;
   * `store-failed`; `world-locked` when the root is held elsewhere
   */
  appendTranscript(
    root: string,
    key: string,
    lines: readonly TranscriptLine[],
    options: { readonly from: number },
  ): Promise<void>
  /**
   * All lines appended to a transcript before the call. A last line without its end, left by a crash, does not count.
   * @throws `invalid-argument`, `store-failed`, `world-locked` when the root is held elsewhere
   */
  transcript(root: string, key: string): Promise<readonly string[] | undefined>
  /**
   * The lines of these transcripts with a word of the query; more and rarer words first, ties by key and index. Case and
   * accents make no difference. Where a script puts no blanks between words, each two adjacent letters are one. The query is
   * plain text without operators; its first 64 words count.
   * @param options `limit`: most lines, at least 1
   * @throws `invalid-argument`, `store-failed`, `world-locked` when the root is held elsewhere
   */
  searchTranscript(
    root: string,
    keys: readonly string[],
    query: string,
    options: { readonly limit: number },
  ): Promise<readonly TranscriptHit[]>
  /**
   * Removes a transcript, and the folders that are empty without it. Nothing if it is not there.
   * @throws `invalid-argument`, `store-failed`, `world-locked` when the root is held elsewhere
   */
  deleteTranscript(root: string, key: string): Promise<void>
  /**
   * Removes a world and everything kept of it; of a root, its children's worlds, its texts and its transcripts too.
   * @throws `no-such-world`, `world-locked` when it or one of those is held
   */
  delete(world: string): Promise<void>
  /** Closes everything that was opened. Idempotent. */
  close(): Promise<void>
}

/** A world of a `SharedStore`. */
export interface WorldName {
  readonly world: string
  /** The root world in whose database it lies; absent: its own. */
  readonly root?: string | undefined
}

/** What a model has written so far in a call in flight, or a part of it. */
export interface StreamedText {
  /** The holder's. What an earlier holder wrote counts no more. */
  readonly epoch: number
  /** The call, and its try. */
  readonly effect: number
  readonly attempt: number
  /** How many pieces of this try come before it. 0: it takes the place of all that was written of the call. */
  readonly first: number
  /** How many come before what follows it. */
  readonly next: number
  /** One line, opaque to a store. Empty: the call is over, and what was written of it may go. */
  readonly line: string
}

/** A text as it was written. Later ones of a world have higher ids; those written together may have the same. */
export interface WrittenText extends StreamedText {
  readonly id: number
}

/**
 * What models stream in worlds, for those who watch from elsewhere. It is not durable, and goes soon after nobody watches.
 * Who watches costs the holder of a world nothing but what it writes.
 */
export interface Streams {
  /**
   * Watches worlds for the next seconds, and gives what was written of each.
   * @param worlds `after`: the newest id that is known
   */
  watch(worlds: readonly (WorldName & { readonly after: number })[]): Promise<readonly (readonly WrittenText[])[]>
  /** A number for each world that is watched: another one once nobody has watched it for a while. `undefined`: nobody does. */
  watched(worlds: readonly WorldName[]): Promise<readonly (number | undefined)[]>
  write(texts: readonly (WorldName & StreamedText)[]): Promise<void>
}

/** A store whose worlds pass from holder to holder, and get letters while nobody holds them. */
export interface SharedStore extends Store {
  /** Absent: what models stream is seen only where they are called. */
  readonly streams?: Streams
  open(world: string, options?: SharedOpenOptions): Promise<SharedJournal>
  /**
   * Sends a letter. Resolves once it is durable.
   * @throws `invalid-argument` for what is no line of well-formed text, or one of more than 4 MB
   */
  post(post: Post): Promise<void>
  /**
   * The rows of a world behind a tick, without holding it. `undefined`: some of them are not kept any more, or it is not there;
   * `read` gives it whole.
   * @param options `to`: no row behind this tick. @default the newest tick
   */
  rows(world: string, options: RowsOptions): Promise<readonly JournalRow[] | undefined>
  /** The newest tick of each of these worlds, without holding them; `undefined` for one that is not there. */
  ticks(worlds: readonly WorldName[]): Promise<readonly (number | undefined)[]>
  /**
   * Calls a listener for each world that has got letters, in this process or another; soon, and perhaps more than once.
   * @param only for this world alone, which costs less where there are many. @default all. A store may call it for others too
   */
  on(event: 'letter', hear: (root: string, world: string) => void, only?: WorldName): () => void
}
