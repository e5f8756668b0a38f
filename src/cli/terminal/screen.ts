import { styleText } from 'node:util'
import cliTruncate from 'cli-truncate'
import { createLogUpdate } from 'log-update'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { plainText } from '../../tools/files/clean-text.ts'

/** A terminal, file or pipe. */
export interface Output extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

export type Style = Parameters<typeof styleText>[0]

export interface Span {
  readonly text: string
  readonly style?: Style | undefined
}

export type StyledLine = readonly Span[]

export interface Row {
  /** One character. */
  readonly mark: string
  readonly markStyle: Style
  readonly text: string
  /** At the right edge of a terminal; right after the text in a file or pipe. */
  readonly note: string
}

const maxTextColumns = 100
const standardColumns = 80
const standardRows = 24
const indent = '  '
/** Latest writes to repeat when the terminal is resized. */
const maxKept = 200
/** Not empty: log-update would draw over a final empty line. */
const blankLine = ' '
const clearScreen = '\u001b[H\u001b[J'

/** A terminal whose last lines change. A file or pipe gets the same text without wrapping, colours and those lines. */
export class Screen {
  readonly #out: Output
  readonly #isDumb: boolean
  readonly isLive: boolean
  readonly #redraw: ReturnType<typeof createLogUpdate>
  #lines: readonly StyledLine[] = []
  /** Permanent text, as functions that format it for the current size. */
  readonly #kept: (() => readonly string[])[] = []
  #size: string
  #isBlank = true
  #open: string | undefined
  /** How many of its wrapped lines are written for good. */
  #written = 0
  readonly #later: (() => void)[] = []

  /** @param isDumb the terminal knows no control codes */
  constructor(out: Output, { isDumb }: { readonly isDumb: boolean }) {
    this.#out = out
    this.#isDumb = isDumb
    this.isLive = out.isTTY === true && !isDumb
    // A hidden cursor would have to be restored after a crash.
    this.#redraw = createLogUpdate(out, { showCursor: true })
    this.#size = this.#sizeNow
  }

  /** One less than the terminal has: some go to the next line when the last column is filled. */
  get columns(): number {
    return this.#out.isTTY === true ? (this.#out.columns ?? standardColumns) - 1 : Infinity
  }

  get rows(): number {
    return this.#out.isTTY === true ? (this.#out.rows ?? standardRows) : Infinity
  }

  /** Writes a paragraph, wrapped. */
  text(text: string, style?: Style): void {
    this.#write(() => wrapped(plainText(text), this.#textColumns).map((line) => this.#paint(style, line)))
  }

  /** Writes a line, truncated to the width. */
  row(row: Row, style?: Style): void {
    this.#write(() => [this.#rowText(row, style)])
  }

  /** Writes lines, truncated to the width. */
  lines(lines: readonly StyledLine[]): void {
    if (lines.length > 0) this.#write(() => lines.map((line) => this.#painted(line)))
  }

  /** Writes an empty line, unless the last one is empty. */
  gap(): void {
    this.endStream()
    if (!this.#isBlank) this.#write(() => [''])
  }

  get isStreaming(): boolean {
    return this.#open !== undefined
  }

  /** Writes streamed text, indented and wrapped, word by word. */
  stream(text: string): void {
    const lines = ((this.#open ?? '') + plainText(text)).split('\n')
    const open = lines.pop() ?? ''
    for (const line of lines) this.#endLine(line)
    this.#open = open
    const complete = this.#openLines().slice(this.#written, -1)
    this.#written += complete.length
    this.#put(complete)
  }

  /** Returns whether text was streaming. */
  endStream(): boolean {
    const open = this.#open
    if (open === undefined) return false
    this.#open = undefined
    if (open.trim() !== '') this.#endLine(open)
    for (const write of this.#later.splice(0)) write()
    return true
  }

  /** Writes something at once, or, while text is streaming, after it. */
  afterStream(write: () => void): void {
    if (this.#open === undefined) write()
    else this.#later.push(write)
  }

  live(lines: readonly StyledLine[]): void {
    if (!this.isLive) return
    this.#lines = lines
    this.#put([])
  }

  #write(format: () => readonly string[]): void {
    this.endStream()
    this.#keep(format)
    this.#put(format())
  }

  #keep(format: () => readonly string[]): void {
    if (!this.isLive) return
    this.#kept.push(format)
    if (this.#kept.length > maxKept) this.#kept.shift()
  }

  /** Writes the rest of a streamed line. */
  #endLine(line: string): void {
    const format = (): readonly string[] => wrapped(line, this.#textColumns, indent)
    const rest = format().slice(this.#written)
    this.#open = undefined
    this.#written = 0
    this.#keep(format)
    this.#put(rest)
  }

  #put(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('')
    if (text !== '') this.#isBlank = lines.at(-1) === ''
    if (!this.isLive) return text === '' ? undefined : void this.#out.write(text)
    if (this.#size !== this.#sizeNow) return this.#repaint()
    if (text !== '') this.#redraw.persist(text)
    this.#drawBelow(this.#below())
  }

  /** Redraws a resized terminal: where its lines are now is unknown. */
  #repaint(): void {
    this.#size = this.#sizeNow
    const below = this.#below()
    const open = this.#openLines().slice(0, -1)
    this.#written = open.length
    const above = [...this.#kept.flatMap((format) => format()), ...open]
    const shown = above.slice(Math.max(0, above.length - Math.max(0, this.rows - below.length - 1)))
    this.#redraw.done()
    this.#out.write(clearScreen + shown.map((line) => `${line}\n`).join(''))
    this.#drawBelow(below)
  }

  #drawBelow(below: readonly string[]): void {
    if (below.length === 0) this.#redraw.clear()
    else this.#redraw(below.join('\n'))
  }

  /** The incomplete line of the stream, then the live lines. */
  #below(): string[] {
    const open = this.#openLines().slice(-1)
    const lines = this.#lines.slice(0, Math.max(0, this.rows - 2 - open.length))
    const isApart = lines.length > 0 && (open.length > 0 || !this.#isBlank)
    return [...open, ...(isApart ? [blankLine] : []), ...lines.map((line) => this.#painted(line))]
  }

  /** The complete words of the stream's last line. */
  #openLines(): string[] {
    const words = /^.*\s/.exec(this.#open ?? '')?.[0] ?? ''
    return words.trim() === '' ? [] : wrapped(words, this.#textColumns, indent)
  }

  get #sizeNow(): string {
    return `${this.columns}x${this.rows}`
  }

  get #textColumns(): number {
    return Math.min(this.columns, this.#out.isTTY === true ? maxTextColumns - 1 : Infinity)
  }

  #rowText({ mark, markStyle, text, note }: Row, style: Style | undefined): string {
    const room = this.#textColumns - indent.length - 2
    const whole = cell(text)
    const right = truncated(cell(note), Math.max(Math.floor(room / 3), room - stringWidth(whole) - 2))
    const left = truncated(whole, room - stringWidth(right) - 2)
    const gap = Number.isFinite(room) ? room - stringWidth(left) - stringWidth(right) : 2
    const marked = `${indent}${this.#paint(markStyle, mark)} `
    return `${marked}${this.#paint(style, left)}${' '.repeat(Math.max(2, gap))}${this.#paint('dim', right)}`
  }

  #painted(line: StyledLine): string {
    return truncated(line.map(({ text, style }) => this.#paint(style, cell(text))).join(''), this.columns)
  }

  #paint(style: Style | undefined, text: string): string {
    return style === undefined || this.#isDumb ? text : styleText(style, text, { stream: this.#out })
  }
}

function cell(text: string): string {
  return plainText(text).replaceAll(/[\t\n]+/g, ' ')
}

function truncated(text: string, columns: number): string {
  return Number.isFinite(columns) ? cliTruncate(text, Math.max(0, columns)) : text
}

/** Wraps between words. Lists and quotes continue under their text, so that a wrapped line does not look like two. */
function wrapped(text: string, columns: number, before = ''): string[] {
  return text.split('\n').flatMap((line) => {
    if (line.trim() === '') return ['']
    if (!Number.isFinite(columns)) return [before + line.trimEnd()]
    const [lead = ''] = /^\s*(?:(?:[-*+•>]|\d+[.)])(?:\s+|$))?/.exec(line) ?? []
    const hanging = ' '.repeat(stringWidth(lead))
    const rows = wrapAnsi(line.slice(lead.length), Math.max(1, columns - stringWidth(before + lead))).split('\n')
    return rows.map((row, index) => `${before}${index === 0 ? lead : hanging}${row}`.trimEnd())
  })
}
