import { styleText } from 'node:util'
import { cleanText } from '../../tools/files/clean-text.ts'
import { cutToWidth, textWidth } from './text-width.ts'
import { WordWrap, wrapped } from './word-wrap.ts'

/** Where text goes: a terminal, or a file or pipe. */
export interface Output extends NodeJS.WritableStream {
  readonly isTTY?: boolean
  readonly columns?: number
}

export type Style = Parameters<typeof styleText>[0]

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
const maxColumns = 100
const standardColumns = 80
const indent = '  '
const clearLine = '\r\u001b[K'

/**
 * A terminal of which only the last line ever changes. What is no terminal gets the same text without wrapping, colours
 * and that line.
 */
export class Screen {
  readonly #out: Output
  /** Has a line that changes. */
  readonly isLive: boolean
  #live = ''
  #isBlank = true
  #stream: WordWrap | undefined

  /** `isDumb`: the terminal knows no control codes. */
  constructor(out: Output, { isDumb }: { readonly isDumb: boolean }) {
    this.#out = out
    this.isLive = out.isTTY === true && !isDumb
  }

  /** Columns that a line may take. The last one stays free: some terminals go to the next line when it is filled. */
  get #columns(): number {
    if (this.#out.isTTY !== true) return Infinity
    return Math.min(this.#out.columns ?? standardColumns, maxColumns) - 1
  }

  /** A paragraph, wrapped. */
  text(text: string, style?: Style): void {
    this.#write(this.#paint(style, wrapped(cleanText(text), this.#columns)))
  }

  /** A line that is cut where it does not fit. */
  row({ mark, markStyle, text, note }: Row, style?: Style): void {
    const room = this.#columns - indent.length - 2
    const whole = oneLine(text)
    const right = cutToWidth(oneLine(note), Math.max(Math.floor(room / 3), room - textWidth(whole) - 2))
    const left = cutToWidth(whole, room - textWidth(right) - 2)
    const gap = Number.isFinite(room) ? room - textWidth(left) - textWidth(right) : 2
    const marked = `${indent}${this.#paint(markStyle, mark)} `
    this.#write(`${marked}${this.#paint(style, left)}${' '.repeat(Math.max(2, gap))}${this.#paint('dim', right)}\n`)
  }

  /** An empty line, unless the last one is. */
  gap(): void {
    this.endStream()
    if (!this.#isBlank) this.#write('\n')
  }

  /** Text as it comes, wrapped word by word. */
  stream(text: string): void {
    this.live([])
    this.#stream ??= new WordWrap({ columns: () => this.#columns, indent })
    this.#out.write(this.#stream.push(cleanText(text)))
  }

  /** Ends the text that comes, if any does. */
  endStream(): boolean {
    const stream = this.#stream
    this.#stream = undefined
    if (stream !== undefined) this.#write(stream.end())
    return stream !== undefined
  }

  /** Replaces the line that changes by as many of these parts as fit; none takes it away. */
  live(parts: readonly string[]): void {
    if (!this.isLive || this.#stream !== undefined) return
    const texts = parts.map((_, index) => indent + oneLine(parts.slice(0, index + 1).join(' · ')))
    const line = texts.findLast((text) => textWidth(text) <= this.#columns) ?? cutToWidth(texts[0] ?? '', this.#columns)
    if (line === this.#live) return
    this.#out.write(line === '' ? clearLine : `\r${this.#paint('dim', line)}\u001b[K`)
    this.#live = line
  }

  #paint(style: Style | undefined, text: string): string {
    return style === undefined ? text : styleText(style, text, { stream: this.#out })
  }

  #write(text: string): void {
    this.endStream()
    this.live([])
    this.#out.write(text)
    this.#isBlank = text === '\n'
  }
}

function oneLine(text: string): string {
  return cleanText(text).replaceAll(/[\t\n]+/g, ' ')
}
