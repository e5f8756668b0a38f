import { EntiaError } from '../world/entia-error.ts'
import type { RecordPart, RecordRange } from './records.ts'

/** A character of UTF-8 has no more. */
const maxCharacterBytes = 4

/**
 * Reads a part of a record of which `read` gives the bytes between two places.
 *
 * @throws `invalid-argument` for a range that is none
 */
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

/** @throws `invalid-argument` */
function checkedRange({ offset = 0, maxBytes = Infinity, ...rest }: RecordRange): {
  readonly offset: number
  readonly maxBytes: number
} {
  const unknown = Object.keys(rest)
  const isOffset = Number.isSafeInteger(offset) && offset >= 0
  const isMaximum = maxBytes === Infinity || (Number.isSafeInteger(maxBytes) && maxBytes >= maxCharacterBytes)
  if (unknown.length === 0 && isOffset && isMaximum) return { offset, maxBytes }
  const came = unknown.length > 0 ? unknown.join(', ') : `offset ${offset}, maxBytes ${maxBytes}`
  throw new EntiaError(
    'invalid-argument',
    'The range of a record has to be an offset (a whole number of 0 or more) and maxBytes (one of ' +
      `${maxCharacterBytes} or more); ${came} came.`,
  )
}

/** Whether a byte belongs to the character that began before it. There is none behind the end. */
function goesOn(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0
}
