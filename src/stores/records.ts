import { EntiaError } from '../base/entia-error.ts'
import { namesInKey } from './check-arguments.ts'
import type { Store } from './port.ts'

export interface RecordRange {
  /** Byte to begin at; within a character, the next whole one. @default 0 */
  readonly offset?: number | undefined
  /** At least 4, the length of the longest character, so that every part but the last holds one. @default all of it */
  readonly maxBytes?: number | undefined
}

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
 * Rejects with `invalid-argument` for any other key or range, and with its store's errors: `store-failed`, `world-locked` …
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

interface Texts {
  put(key: string, text: string): Promise<void> | void
  get(key: string): Promise<string | undefined> | string | undefined
}

export function textRecords(texts: Texts): Records {
  return {
    async put(key, text) {
      namesInKey(key)
      await texts.put(key, text.toWellFormed())
    },
    async get(key, range = {}) {
      namesInKey(key)
      const text = await texts.get(key)
      if (text === undefined) return undefined
      const bytes = Buffer.from(text)
      return readPart(range, bytes.length, (from, to) => bytes.subarray(from, to))
    },
  }
}

/** Records beside a root world in its store. They are deleted with the root. */
export function storeRecords(store: Store, root: string): Records {
  return textRecords({
    put: (key, text) => store.putText(root, key, text),
    get: (key) => store.getText(root, key),
  })
}

/** A character of UTF-8 has no more. */
const maxCharacterBytes = 4

/** Reads a part of a record. @param read returns the bytes between two places @throws `invalid-argument` */
export async function readPart(
  range: RecordRange,
  sizeBytes: number,
  read: (fromByte: number, toByte: number) => Buffer | Promise<Buffer>,
): Promise<RecordPart> {
  const { offset, maxBytes } = checkedRange(range)
  const from = Math.min(offset, sizeBytes)
  // Enough to pass over the rest of a character at the beginning, and to see whether one goes on behind the end.
  const bytes = await read(from, Math.min(from + maxBytes + maxCharacterBytes, sizeBytes))
  const tail = maxCharacterBytes - 1
  const mostSkipped = from > 0 ? tail : 0
  let begin = 0
  while (begin < mostSkipped && goesOn(bytes[begin])) begin++
  const most = Math.min(begin + maxBytes, bytes.length)
  let end = most
  while (end > begin && most - end < tail && goesOn(bytes[end])) end--
  const next = from + end
  return { text: bytes.toString('utf8', begin, end), nextOffset: next < sizeBytes ? next : null, sizeBytes }
}

function checkedRange({ offset = 0, maxBytes = Infinity, ...rest }: RecordRange): {
  readonly offset: number
  readonly maxBytes: number
} {
  const unknown = Object.keys(rest)
  const isOffset = Number.isSafeInteger(offset) && offset >= 0
  const isMaximum = maxBytes === Infinity || (Number.isSafeInteger(maxBytes) && maxBytes >= maxCharacterBytes)
  if (unknown.length === 0 && isOffset && isMaximum) return { offset, maxBytes }
  const got = unknown.length > 0 ? unknown.join(', ') : `offset ${offset}, maxBytes ${maxBytes}`
  throw new EntiaError(
    'invalid-argument',
    `The range of a record must be an offset (an integer ≥ 0) and maxBytes (an integer ≥ ${maxCharacterBytes}), got ${got}.`,
  )
}

/** Whether a byte belongs to the character that began before it. There is none behind the end. */
function goesOn(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0
}
