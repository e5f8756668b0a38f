import { Writable } from 'node:stream'

/** A terminal as far as programs here command it: it wraps lines that are too long, and scrolls. */
export class Terminal extends Writable {
  readonly isTTY = true
  columns: number
  rows: number
  /** All that it was sent. */
  sent = ''
  #lines: string[][] = [[]]
  #row = 0
  #column = 0

  constructor(columns: number, rows = 1_000) {
    super({ decodeStrings: false })
    this.columns = columns
    this.rows = rows
  }

  /** What stands on it down to the cursor, and what was scrolled off, a text a line, without colours. */
  get shown(): string[] {
    const texts = this.#lines.map((cells) =>
      Array.from(cells, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    )
    return texts.slice(
      0,
      Math.max(
        this.#row,
        texts.findLastIndex((text) => text !== ''),
      ) + 1,
    )
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.sent += chunk
    // oxlint-disable-next-line no-control-regex
    for (const [token] of chunk.matchAll(/\u001b\[[\d;?]*[a-zA-Z]|\n|\r|[^\u001b\n\r]/gsu)) this.#take(token)
    done()
  }

  #take(token: string): void {
    // oxlint-disable-next-line no-control-regex
    const [, count, command] = /^\u001b\[([\d;?]*)([a-zA-Z])$/.exec(token) ?? []
    if (token === '\n') this.#newLine()
    else if (token === '\r') this.#column = 0
    else if (command === 'A') this.#row = Math.max(this.#top, this.#row - Number(count))
    else if (command === 'B') this.#row = Math.min(this.#lines.length - 1, this.#row + Number(count))
    else if (command === 'G') this.#column = 0
    else if (command === 'H') {
      this.#row = this.#top
      this.#column = 0
    } else if (command === 'K') this.#line.length = count === '2' ? 0 : Math.min(this.#line.length, this.#column)
    else if (command === 'J') {
      this.#line.length = Math.min(this.#line.length, this.#column)
      this.#lines.length = this.#row + 1
    } else if (command === undefined) this.#put(token)
    else if (command !== 'm' && !/^\?2026[hl]/.test(`${count}${command}`))
      throw new Error(`This terminal does not know ${JSON.stringify(token)}.`)
  }

  #put(character: string): void {
    if (this.#column >= this.columns) this.#newLine()
    this.#line[this.#column++] = character
  }

  #newLine(): void {
    this.#row++
    this.#column = 0
    this.#lines[this.#row] ??= []
  }

  get #line(): string[] {
    return (this.#lines[this.#row] ??= [])
  }

  /** The first line that is not scrolled off. */
  get #top(): number {
    return Math.max(0, this.#lines.length - this.rows)
  }
}
