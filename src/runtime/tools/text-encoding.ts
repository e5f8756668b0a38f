import { TextDecoder } from 'node:util'

/** The text of a file, and how its bytes say it. */
export interface EncodedText {
  /** Without a byte order mark. */
  readonly text: string
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  readonly hasMark: boolean
}

const mark = '\ufeff'

/** UTF-8, or UTF-16 with a byte order mark; `undefined` for anything else, so that writing it loses no byte. */
export function decodeText(bytes: Buffer): EncodedText | undefined {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  if (encoding === 'utf-8' && bytes.includes(0)) return undefined
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
