import xterm from '@xterm/headless'
import { expect } from 'vitest'

/** A real terminal emulator without a window: what a program writes, as a person would see it. */
export class ScreenReader {
  readonly #terminal: InstanceType<typeof xterm.Terminal>
  /** What the terminal answers by itself, such as the place of its cursor. */
  onAnswer: (data: string) => void = () => undefined
  /** The last row is left out of `lines` where it is one of these, such as a status line. */
  leavesOut: RegExp | undefined

  constructor(columns: number, rows: number) {
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 100_000, allowProposedApi: true })
    this.#terminal.onData((data) => this.onAnswer(data))
  }

  write(data: string): void {
    this.#terminal.write(data.replaceAll(/\r?\n/g, '\r\n'))
  }

  resize(columns: number, rows: number): void {
    this.#terminal.resize(columns, rows)
  }

  /** All rows, also those that have scrolled away, down to the last that is not empty; rows that the terminal broke are one. */
  get lines(): string[] {
    const shown = this.allLines
    return this.leavesOut?.test(shown.at(-1) ?? '') === true ? shown.slice(0, -1) : shown
  }

  /** With a last row that `lines` leaves out. */
  get allLines(): string[] {
    const { active } = this.#terminal.buffer
    const lines: string[] = []
    for (let index = 0; index < active.length; index++) {
      const row = active.getLine(index)
      const text = row?.translateToString(true).trimEnd() ?? ''
      if (row?.isWrapped === true) lines.push((lines.pop() ?? '') + text)
      else lines.push(text)
    }
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
  }

  get text(): string {
    return this.lines.join('\n')
  }

  /** The row and column of the cursor on the screen, from 0. */
  get cursor(): readonly [row: number, column: number] {
    const { cursorX, cursorY } = this.#terminal.buffer.active
    return [cursorY, cursorX]
  }

  /** Resolves (to true) once a text is on the screen. A poll that is over fails with what is there instead. */
  async until(wanted: string | RegExp, timeoutMs?: number): Promise<true> {
    await shows(this, wanted, timeoutMs === undefined ? {} : { timeout: timeoutMs })
    return true
  }
}

async function shows(screen: ScreenReader, wanted: string | RegExp, options: { timeout?: number }): Promise<void> {
  await expect.poll(() => screen.text, { interval: 2, ...options }).toMatch(wanted)
}
