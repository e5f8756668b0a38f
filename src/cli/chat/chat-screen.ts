import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import { plainText } from '../../tools/files/clean-text.ts'
import { asciiText, type Look } from './look.ts'
import type { Line } from './markdown.ts'

/** A terminal that can move its cursor. */
export interface ScreenOutput {
  readonly columns?: number
  readonly rows?: number
  write(text: string): unknown
  on(event: 'resize', listener: () => void): unknown
  off(event: 'resize', listener: () => void): unknown
}

/** The line that is being typed. */
export interface InputView {
  readonly prompt: string
  /** May have line breaks. */
  readonly text: string
  /** Index in `text`. */
  readonly cursor: number
}

/** What stands below what has been printed, for the width that the terminal has now. */
export interface LiveView {
  readonly above: readonly Line[]
  readonly input?: InputView | undefined
  /** Rows below the line, each cut at the edge. Those for which there is no room are left out. */
  readonly below?: readonly string[] | undefined
}

/** Rows that what is below the line leaves to the line and what is above it. */
const minRowsAbove = 4

const frameMs = 33
const standardColumns = 80
const standardRows = 24

interface Drawn {
  readonly rows: readonly string[]
  readonly cursorRow: number
  readonly cursorColumn: number
}

const nothing: Drawn = { rows: [], cursorRow: 0, cursorColumn: 0 }

/**
 * Text that scrolls away, and below it a few rows that change: what is still arriving, the status, and the line being typed.
 * Draws at most 30 times a second.
 */
export class ChatScreen {
  readonly #out: ScreenOutput
  readonly #look: Look
  readonly #view: (columns: number, rowsBelow: number) => LiveView
  #drawn: Drawn = nothing
  #printed = ''
  /** What stands at the end of a terminal that cannot move its cursor. */
  #prompt = ''
  #timer: NodeJS.Timeout | undefined
  #lastDrawMs = 0
  #isClosed = false
  #isPaused = false
  readonly #resized = (): void => this.update()

  /** @param view what changes, for a width and the most rows that have room below the line */
  constructor(out: ScreenOutput, look: Look, view: (columns: number, rowsBelow: number) => LiveView) {
    this.#out = out
    this.#look = look
    this.#view = view
    out.on('resize', this.#resized)
  }

  /** One less than the terminal has: some go to the next row when the last column is filled. */
  get columns(): number {
    return Math.max(1, (this.#out.columns || standardColumns) - 1)
  }

  get #rows(): number {
    return Math.max(2, this.#out.rows || standardRows)
  }

  get #rowsBelow(): number {
    return Math.max(0, this.#rows - 1 - minRowsAbove)
  }

  /** Writes lines above what changes. */
  print(lines: readonly Line[]): void {
    if (lines.length === 0) return
    if (this.#look.isDumb === true) {
      this.#printed += lines.map(({ text }) => `${this.#inSigns(text)}\n`).join('')
      return this.update()
    }
    const { columns } = this
    const rows = lines.flatMap(({ text, isWhole }) => {
      const shown = this.#shown(text)
      return isWhole ? [shown] : hardRows(shown, columns)
    })
    this.#printed += rows.map((row) => `${row}\u001b[K\n`).join('')
    this.update()
  }

  /** Draws soon. */
  update(): void {
    if (this.#isClosed || this.#isPaused || this.#timer !== undefined) return
    const waitMs = Math.max(0, this.#lastDrawMs + frameMs - performance.now())
    this.#timer = setTimeout(() => this.draw(), waitMs)
  }

  /** Draws now. */
  draw(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isClosed || this.#isPaused) return
    this.#lastDrawMs = performance.now()
    const view = this.#view(this.columns, this.#rowsBelow)
    if (this.#look.isDumb === true) this.#putPlain(view.input && this.#inSigns(view.input.prompt))
    else this.#put(this.#laidOut(view))
  }

  /** Takes what changes from the terminal, which another program uses now. */
  pause(): void {
    this.#put(nothing)
    this.#isPaused = true
  }

  /** Draws again. */
  resume(): void {
    this.#isPaused = false
    this.draw()
  }

  /** Writes what is outstanding, and leaves the cursor below it. */
  close(): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    if (this.#look.isDumb === true) this.#putPlain(undefined)
    else this.#put(nothing)
    this.#isClosed = true
    this.#out.off('resize', this.#resized)
  }

  /** Where the cursor stays in its line: what was printed, and behind it the prompt. */
  #putPlain(prompt: string | undefined): void {
    const printed = this.#printed
    this.#printed = ''
    if (printed !== '' || prompt !== this.#prompt) {
      const before = this.#prompt === '' ? '' : '\n'
      this.#out.write(`${before}${printed}${prompt ?? ''}`)
    }
    this.#prompt = prompt ?? ''
  }

  #put(next: Drawn): void {
    const printed = this.#printed
    const { rows, cursorRow, cursorColumn } = next
    const isSame = printed === '' && sameRows(rows, this.#drawn.rows)
    if (isSame && cursorRow === this.#drawn.cursorRow && cursorColumn === this.#drawn.cursorColumn) return
    this.#printed = ''
    const up = this.#rowsAboveCursor()
    const start = `${up > 0 ? `\u001b[${up}A` : ''}\r`
    const body = rows.map((row) => `${row}\u001b[K`).join('\n')
    const back = rows.length - 1 - cursorRow
    const place =
      rows.length === 0
        ? ''
        : `${back > 0 ? `\u001b[${back}A` : ''}\r${cursorColumn > 0 ? `\u001b[${cursorColumn}C` : ''}`
    // What is drawn between these two codes appears at once, where the terminal knows them.
    this.#out.write(`\u001b[?2026h\u001b[?25l${start}${printed}${body}\u001b[J${place}\u001b[?25h\u001b[?2026l`)
    this.#drawn = next
  }

  /** How many rows the cursor stands below the first that changes: a terminal that became narrower has broken them. */
  #rowsAboveCursor(): number {
    const { rows, cursorRow, cursorColumn } = this.#drawn
    const columns = this.columns + 1
    const above = rows
      .slice(0, cursorRow)
      .reduce((sum, row) => sum + Math.max(1, Math.ceil(stringWidth(row) / columns)), 0)
    return above + Math.floor(cursorColumn / columns)
  }

  /** Cuts what does not fit: the beginning of what arrives, then what is far from the cursor. */
  #laidOut({ above, below = [], input }: LiveView): Drawn {
    const { columns } = this
    const rowsBelow = below
      .slice(0, this.#rowsBelow)
      .map((row) => cliTruncate(this.#shown(row), columns, { truncationCharacter: this.#shown('…') }))
    const most = this.#rows - 1 - rowsBelow.length
    const typed =
      input && inputRows({ ...input, prompt: this.#shown(input.prompt) }, columns, most, (text) => this.#shown(text))
    const rows = above.flatMap(({ text, isWhole }) => {
      const shown = this.#shown(text)
      return isWhole
        ? [cliTruncate(shown, columns, { truncationCharacter: this.#shown('…') })]
        : hardRows(shown, columns)
    })
    const room = Math.max(0, most - (typed?.rows.length ?? 0))
    const shown = room === 0 ? [] : rows.slice(-room)
    const all = [...shown, ...(typed?.rows ?? []), ...(typed === undefined ? [] : rowsBelow)]
    if (typed === undefined) return { rows: all, cursorRow: Math.max(0, all.length - 1), cursorColumn: 0 }
    return { rows: all, cursorRow: shown.length + typed.cursorRow, cursorColumn: typed.cursorColumn }
  }

  #shown(text: string): string {
    return withoutTabs(this.#inSigns(text))
  }

  /** In signs that the terminal has. */
  #inSigns(text: string): string {
    return this.#look.isAscii ? asciiText(text) : text
  }
}

const tabStop = 8

/** Blanks instead of tabs: a tab moves the cursor over what stood there, and leaves it. */
function withoutTabs(text: string): string {
  if (!text.includes('\t')) return text
  return text.split('\n').map(lineWithoutTabs).join('\n')
}

function lineWithoutTabs(line: string): string {
  const [first = '', ...more] = line.split('\t')
  let width = stringWidth(first)
  return more.reduce((shown, part) => {
    const blanks = tabStop - (width % tabStop)
    width += blanks + stringWidth(part)
    return shown + ' '.repeat(blanks) + part
  }, first)
}

function sameRows(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((row, index) => row === other[index])
}

function hardRows(text: string, columns: number): string[] {
  if (!text.includes('\n') && stringWidth(text) <= columns) return [text]
  // Only the first row keeps its indent: a blank between two rows is none.
  const rows = wrapAnsi(text, columns, { hard: true, trim: false }).split('\n')
  // oxlint-disable-next-line no-control-regex
  return rows.map((row, index) => (index === 0 ? row : row.replace(/^((?:\u001b\[[\d;]*m)*) /, '$1')))
}

const graphemes = new Intl.Segmenter()

/** The typed text as rows, and where the cursor is in them; of a long text the rows down to the cursor. */
function inputRows(
  { prompt, text, cursor }: InputView,
  columns: number,
  most: number,
  shown: (text: string) => string,
): Drawn {
  const indent = ' '.repeat(Math.min(stringWidth(prompt), Math.max(0, columns - 4)))
  const rows: string[] = []
  let row = prompt
  let width = stringWidth(prompt)
  let at: { row: number; column: number } | undefined
  const next = (): void => {
    rows.push(row)
    row = indent
    width = indent.length
  }
  for (const { segment, index } of graphemes.segment(text)) {
    const endsRow = segment.endsWith('\n')
    const sign = shown(visible(endsRow ? segment.slice(0, -1) : segment))
    const size = stringWidth(sign)
    if (width + size > columns && width > indent.length) next()
    if (index + segment.length > cursor) at ??= { row: rows.length, column: width }
    row += sign
    width += size
    if (endsRow) next()
  }
  at ??= { row: rows.length, column: width }
  rows.push(row)
  const first = Math.max(0, at.row - most + 1)
  return { rows: rows.slice(first, first + most), cursorRow: at.row - first, cursorColumn: at.column }
}

/** What a terminal acts on or does not show as a sign, so that none of it reaches the terminal. A tab is a few blanks. */
function visible(segment: string): string {
  const shown = segment.replaceAll('\t', tabBlanks).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '·')
  return plainText(shown) === shown ? shown : '·'
}

const tabBlanks = ' '.repeat(4)
