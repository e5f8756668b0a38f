import { styleText } from 'node:util'
import { cleanText } from '../../tools/files/clean-text.ts'
import { LiveRegion } from './live-region.ts'
import { cutLine, type Style, type StyledLine } from './styled-line.ts'
import { cutToWidth, textWidth } from './text-width.ts'
import { WordWrap, wrapped } from './word-wrap.ts'

/** Where text goes: a terminal, or a file or pipe. */
export interface Output extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/** A line of two parts. */
export interface Row {
  /** One character before it. */
  readonly mark: string
  readonly markStyle: Style
  readonly text: string
  /** At the right edge where there is one, and behind the text where there is none. */
  readonly note: string
}

/** Longer lines are hard to read. */
const maxTextColumns = 100
const standardColumns = 80
const standardRows = 24
const indent = '  '
/** What was written last is kept, so that it can be written again when the size of the terminal has changed. */
const maxKept = 200

/**
 * A terminal of which only the last lines ever change. What is no terminal gets the same text without wrapping, colours
 * and those lines.
 */
export class Screen {
  readonly #out: Output
  readonly #isDumb: boolean
  /** Has lines that change. */
  readonly isLive: boolean
  readonly #region = new LiveRegion()
  #lines: readonly StyledLine[] = []
  /** What stays, as the functions that make it for the columns of now. */
  readonly #kept: (() => string)[] = []
  #size = ''
  #isBlank = true
  #stream: WordWrap | undefined
  /** The text that comes, so far. */
  #streamed = ''
  /** Its last line, as far as it goes. */
  #open = ''
  readonly #later: (() => void)[] = []

  /** `isDumb`: the terminal knows no control codes. */
  constructor(out: Output, { isDumb }: { readonly isDumb: boolean }) {
    this.#out = out
    this.#isDumb = isDumb
    this.isLive = out.isTTY === true && !isDumb
    this.#size = this.#sizeNow
  }

  /** Columns that a line may take. The last one stays free: some terminals go to the next line when it is filled. */
  get columns(): number {
    return this.#out.isTTY === true ? (this.#out.columns ?? standardColumns) - 1 : Infinity
  }

  /** Lines that a terminal has. */
  get rows(): number {
    return this.#out.isTTY === true ? (this.#out.rows ?? standardRows) : Infinity
  }

  /** A paragraph, wrapped. */
  text(text: string, style?: Style): void {
    this.#write(() => this.#paint(style, wrapped(cleanText(text), this.#textColumns)))
  }

  /** A line that is cut where it does not fit. */
  row(row: Row, style?: Style): void {
    this.#write(() => this.#rowText(row, style))
  }

  /** Lines that stay, cut where they do not fit. */
  lines(lines: readonly StyledLine[]): void {
    if (lines.length > 0) this.#write(() => lines.map((line) => `${this.#painted(line)}\n`).join(''))
  }

  /** An empty line, unless the last one is. */
  gap(): void {
    this.endStream()
    if (!this.#isBlank) this.#write(() => '\n')
  }

  /** Does text come? */
  get isStreaming(): boolean {
    return this.#stream !== undefined
  }

  /** Text as it comes, wrapped word by word. */
  stream(text: string): void {
    const clean = cleanText(text)
    this.#stream ??= this.#newStream()
    this.#streamed += clean
    this.#grow(this.#stream.push(clean))
  }

  /** Ends the text that comes, if any does. */
  endStream(): boolean {
    const stream = this.#stream
    if (stream === undefined) return false
    const whole = this.#streamed
    this.#stream = undefined
    this.#streamed = ''
    this.#grow(stream.end())
    this.#keep(() => wrapped(whole, this.#textColumns, indent))
    for (const write of this.#later.splice(0)) write()
    return true
  }

  /** Writes something at once, or, while text comes, behind it. */
  behindStream(write: () => void): void {
    if (this.#stream === undefined) write()
    else this.#later.push(write)
  }

  /** Replaces the lines that change; none takes them away. */
  live(lines: readonly StyledLine[]): void {
    if (!this.isLive) return
    this.#lines = lines
    if (this.#size === this.#sizeNow) this.#out.write(this.#region.redrawn(this.#below()))
    else this.#repaint()
  }

  /** Takes what has come of the text, and shows its last line among those that change. */
  #grow(text: string): void {
    const whole = this.#open + text
    const end = this.isLive ? whole.lastIndexOf('\n') + 1 : whole.length
    this.#open = whole.slice(end)
    this.#put(whole.slice(0, end))
  }

  #write(make: () => string): void {
    this.endStream()
    this.#keep(make)
    this.#put(make())
  }

  #keep(make: () => string): void {
    if (!this.isLive) return
    this.#kept.push(make)
    if (this.#kept.length > maxKept) this.#kept.shift()
  }

  #put(text: string): void {
    if (text !== '') this.#isBlank = text === '\n' || text.endsWith('\n\n')
    this.#out.write(this.isLive ? this.#region.pushedDown(text, this.#below()) : text)
  }

  /** All of what fits, for another size. */
  #repaint(): void {
    this.#size = this.#sizeNow
    let text = this.#kept.map((make) => make()).join('')
    if (this.#stream !== undefined) {
      this.#stream = this.#newStream()
      const whole = this.#stream.push(this.#streamed)
      const end = whole.lastIndexOf('\n') + 1
      this.#open = whole.slice(end)
      text += whole.slice(0, end)
    }
    const below = this.#below()
    const lines = text.split('\n').slice(0, -1)
    const shown = lines.slice(Math.max(0, lines.length - Math.max(0, this.rows - below.length)))
    this.#out.write(this.#region.repainted(shown.map((line) => `${line}\n`).join(''), below))
  }

  /** What stands below all that stays. */
  #below(): string[] {
    const open = this.#open === '' ? [] : [this.#open]
    const lines = this.#lines.slice(0, Math.max(0, this.rows - 2 - open.length))
    const isApart = lines.length > 0 && (open.length > 0 || !this.#isBlank)
    return [...open, ...(isApart ? [''] : []), ...lines.map((line) => this.#painted(line))]
  }

  #newStream(): WordWrap {
    return new WordWrap({ columns: () => this.#textColumns, indent })
  }

  get #sizeNow(): string {
    return `${this.columns}x${this.rows}`
  }

  get #textColumns(): number {
    return Math.min(this.columns, this.#out.isTTY === true ? maxTextColumns - 1 : Infinity)
  }

  #rowText({ mark, markStyle, text, note }: Row, style: Style | undefined): string {
    const room = this.#textColumns - indent.length - 2
    const whole = oneLine(text)
    const right = cutToWidth(oneLine(note), Math.max(Math.floor(room / 3), room - textWidth(whole) - 2))
    const left = cutToWidth(whole, room - textWidth(right) - 2)
    const gap = Number.isFinite(room) ? room - textWidth(left) - textWidth(right) : 2
    const marked = `${indent}${this.#paint(markStyle, mark)} `
    return `${marked}${this.#paint(style, left)}${' '.repeat(Math.max(2, gap))}${this.#paint('dim', right)}\n`
  }

  #painted(line: StyledLine): string {
    const clean = line.map(({ text, style }) => ({ text: oneLine(text), style }))
    return cutLine(clean, this.columns)
      .map(({ text, style }) => this.#paint(style, text))
      .join('')
  }

  #paint(style: Style | undefined, text: string): string {
    return style === undefined || this.#isDumb ? text : styleText(style, text, { stream: this.#out })
  }
}

function oneLine(text: string): string {
  return cleanText(text).replaceAll(/[\t\n]+/g, ' ')
}
