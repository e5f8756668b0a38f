/** Which part of a record is read. */
export interface RecordRange {
  /** Byte to begin at; within a character, the next whole one. @default 0 */
  readonly offset?: number | undefined
  /** At least 4, the length of the longest character, so that every part but the last holds one. @default all of it */
  readonly maxBytes?: number | undefined
}

/** A part of a record, in whole characters. */
export interface RecordPart {
  readonly text: string
  /** Byte at which the next part begins; null at the end. */
  readonly nextOffset: number | null
  /** Of the whole record. */
  readonly sizeBytes: number
}

/**
 * Where the results of sessions are kept as UTF-8. A key is a relative path with `/`, such as
 * `scratchbook/records/subagent/subagent_0f…`.
 *
 * Rejects with `invalid-argument` for a key that is no such path or a range that is none, and as its store or file
 * system does: `store-failed`, `world-locked` …
 */
export interface Records {
  /**
   * Keeps a text under a key, durably, in place of what was there; half of a surrogate pair becomes U+FFFD. It is never
   * seen half-written, and keeping the same again is harmless.
   */
  put(key: string, text: string): Promise<void>
  /** A part of what is kept under a key; `undefined` if there is nothing. */
  get(key: string, range?: RecordRange): Promise<RecordPart | undefined>
}
