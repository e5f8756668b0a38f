import { diffArrays } from 'diff'
import { decodeText, type EncodedText, encodeText } from '../../tools/files/text-encoding.ts'

/** Longest time to compare the lines of a file with mixed line ends, in milliseconds of real time. */
const maxCompareMs = 1_000
const mark = '\ufeff'

/** What is written in place of a file, and what of that file it keeps beyond the given text. */
export interface KeptForm {
  readonly bytes: Buffer
  /** In words, such as `CRLF line ends`. */
  readonly kept: readonly string[]
  /** A sentence on what of the file is lost. */
  readonly lost?: string
}

/**
 * The given text in the form of the file that it replaces: line ends, byte order mark, encoding and the newline at the end. Who
 * gives CRLF or CR line ends means them.
 *
 * @param before the bytes of that file; those of no text keep nothing
 */
export function keptForm(before: Buffer, given: string): KeptForm {
  const decoded = before.length === 0 ? undefined : decodeText(before)
  const isUnknown = decoded === undefined && before.length > 0 && !before.includes(0)
  const old = isUnknown ? inUnknown(before) : decoded
  if (old === undefined) {
    const lost = before.length > 0 && { lost: 'It was a binary file before.' }
    return { bytes: Buffer.from(given), kept: [], ...lost }
  }
  const isMarked = given.startsWith(mark)
  const said = isMarked ? given.slice(1) : given
  const ended = said === '' || /[\r\n]$/.test(said) || !/[\r\n]$/.test(old.text) ? said : `${said}\n`
  const meant = said.includes('\r\n') ? '\r\n' : hasReturnsOnly(said) ? '\r' : undefined
  const text = meant === undefined ? withLineEnds(old.text, ended) : ended.replace(/([^\r])\n$/, `$1${meant}`)
  const kept = [
    ...(text === ended || meant !== undefined ? [] : [lineEndsOf(old.text)]),
    ...(ended === said ? [] : ['the newline at its end']),
    ...(old.hasMark && !isMarked ? ['the byte order mark'] : []),
    ...(old.encoding === 'utf-8' ? [] : [`its encoding, ${old.encoding.toUpperCase()}`]),
  ]
  const lost = isUnknown && { lost: 'It was not in UTF-8 before, and is now.' }
  return { bytes: encodeText({ ...old, text, hasMark: old.hasMark || isMarked }), kept, ...lost }
}

/** Line ends are the same bytes in all encodings but UTF-16. */
function inUnknown(bytes: Buffer): EncodedText {
  return { text: bytes.toString('latin1'), encoding: 'utf-8', hasMark: false }
}

/** Do its lines end in `\r` alone, as on old systems? */
export function hasReturnsOnly(text: string): boolean {
  return text.includes('\r') && !text.includes('\n')
}

function lineEndsOf(text: string): string {
  if (hasReturnsOnly(text)) return 'CR line ends'
  return text.replaceAll('\r\n', '').includes('\n') ? 'mixed line ends' : 'CRLF line ends'
}

interface TextLine {
  readonly text: string
  /** Empty in the last line. */
  readonly end: '\n' | '\r\n' | ''
}

/** A text with `\n` in the line ends of another: lines that are in both keep theirs, new ones take that of the line before. */
export function withLineEnds(before: string, after: string): string {
  if (hasReturnsOnly(before)) return after.replaceAll('\n', '\r')
  if (!before.includes('\r\n')) return after
  if (!/(?<!\r)\n/.test(before)) return after.replaceAll('\n', '\r\n')
  const old = linesOf(before)
  const texts = after.split('\n')
  const ends = pairedEnds(old, texts)
  let last = old[0]?.end === '\r\n' ? '\r\n' : '\n'
  return texts
    .map((text, index) => {
      if (index === texts.length - 1) return text
      last = ends[index] || last
      return text + last
    })
    .join('')
}

/** For each line the end of the line that it was; `undefined`: it is new. */
function pairedEnds(old: readonly TextLine[], texts: readonly string[]): (string | undefined)[] {
  const most = Math.min(old.length, texts.length)
  let start = 0
  while (start < most && old[start]?.text === texts[start]) start++
  let behind = 0
  while (behind < most - start && old.at(-1 - behind)?.text === texts.at(-1 - behind)) behind++
  const ends: (string | undefined)[] = old.slice(0, start).map(({ end }) => end)
  ends.push(...changedEnds(old.slice(start, old.length - behind), texts.slice(start, texts.length - behind)))
  ends.push(...old.slice(old.length - behind).map(({ end }) => end))
  return ends
}

function changedEnds(old: readonly TextLine[], texts: readonly string[]): (string | undefined)[] {
  const oldTexts = old.map(({ text }) => text)
  const parts = diffArrays(oldTexts, [...texts], { timeout: maxCompareMs }) ?? [
    { value: oldTexts, removed: true, added: false },
    { value: [...texts], removed: false, added: true },
  ]
  const ends: (string | undefined)[] = []
  let at = 0
  let removed: readonly TextLine[] = []
  for (const part of parts) {
    const { length } = part.value
    if (part.added) {
      ends.push(...endsInPlaceOf(removed, length))
      removed = []
      continue
    }
    const lines = old.slice(at, at + length)
    at += length
    if (part.removed) removed = lines
    else {
      ends.push(...lines.map(({ end }) => end))
      removed = []
    }
  }
  return ends
}

/** Ends of lines that stand where others stood: the last takes that of the last, those before it go by their place. */
function endsInPlaceOf(removed: readonly TextLine[], count: number): (string | undefined)[] {
  const pairs = Math.min(removed.length, count)
  return Array.from({ length: count }, (_, index) => {
    if (index === count - 1) return removed.at(-1)?.end
    return index < pairs - 1 || removed.length === count ? removed[index]?.end : undefined
  })
}

function linesOf(text: string): TextLine[] {
  const lines = text.split('\n')
  return lines.map((line, index): TextLine => {
    if (index === lines.length - 1) return { text: line, end: '' }
    return line.endsWith('\r') ? { text: line.slice(0, -1), end: '\r\n' } : { text: line, end: '\n' }
  })
}
