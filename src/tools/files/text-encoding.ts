import { TextDecoder } from 'node:util'

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** The text of a file, and how its bytes say it. */
export interface EncodedText {
  /** Without a byte order mark. */
  readonly text: string
  readonly encoding: TextEncoding
  readonly hasMark: boolean
}

const mark = '\ufeff'
/** How much of a file is looked at for NUL bytes. */
const lookedAtBytes = 8 * 1024
/** Fewer characters may be numbers just as well. */
const minUnmarkedChars = 4
/** Of the characters of a text without a mark, at least. */
const minLatinShare = 0.7
const noText = /(?![\t\n\f\r])\p{Cc}|[\ufffe\uffff]/u

/**
 * The encoding of a text by its first bytes: UTF-16 with a byte order mark, or without one where nearly all characters are Latin;
 * otherwise UTF-8. `undefined`: a NUL byte says that it is no text.
 */
export function encodingOf(head: Uint8Array): TextEncoding | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const looked = head.subarray(0, lookedAtBytes)
  if (!looked.includes(0)) return 'utf-8'
  return (['utf-16le', 'utf-16be'] as const).find((encoding) => isLatinText(looked, encoding))
}

/** Half of the bytes of Latin text in UTF-16 are NUL, all of them on one side. */
function isLatinText(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): boolean {
  const chars = bytes.length >> 1
  const high = encoding === 'utf-16le' ? 1 : 0
  let latin = 0
  for (let at = 0; at < chars * 2; at += 2) if (bytes[at + high] === 0) latin++
  if (chars < minUnmarkedChars || latin / chars < minLatinShare) return false
  return !noText.test(new TextDecoder(encoding).decode(bytes.subarray(0, chars * 2)))
}

/** UTF-8 or UTF-16; `undefined` for anything else, so that writing it loses no byte. */
export function decodeText(bytes: Uint8Array): EncodedText | undefined {
  const encoding = encodingOf(bytes)
  if (encoding === undefined || (encoding === 'utf-8' && bytes.includes(0))) return undefined
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes)
    const hasMark = text.startsWith(mark)
    return { text: hasMark ? text.slice(1) : text, encoding, hasMark }
  } catch {
    return undefined
  }
}

export function encodeText({ text, encoding, hasMark }: EncodedText): Buffer {
  const whole = hasMark ? mark + text : text
  if (encoding === 'utf-8') return Buffer.from(whole)
  const bytes = Buffer.from(whole, 'utf16le')
  return encoding === 'utf-16be' ? bytes.swap16() : bytes
}
