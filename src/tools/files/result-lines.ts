import { standardMaxResultChars } from '../tool-output.ts'
import { cutText } from '../../rules/text/cut-text.ts'
import { cleanText } from './clean-text.ts'
import type { TextLine } from './text-chunks.ts'

/** Room that is kept for the notes at the end, in characters. */
const notesChars = 600

/** Lines of a result, as many as fit under the cap of every result, so that the notes behind them are never cut off. */
export class ResultLines {
  readonly #lines: string[] = []
  #room = standardMaxResultChars - notesChars
  /** A line found no room; none is taken from then on. */
  isFull = false

  get count(): number {
    return this.#lines.length
  }

  /** Whether the line was taken. */
  add(line: string): boolean {
    this.isFull ||= line.length + 1 > this.#room
    if (this.isFull) return false
    this.#room -= line.length + 1
    this.#lines.push(line)
    return true
  }

  /** All of it, the notes in brackets. */
  text(notes: readonly string[]): string {
    return [...this.#lines, ...notes.map((note) => `[${note}]`)].join('\n')
  }
}

/** A line of a file as a model sees it: at most `maxChars` of it, and a note where that is not all. */
export function shownLine({ text, leftOut }: TextLine, maxChars: number): string {
  const shown = cutText(text, maxChars)
  const missing = text.length - shown.length + leftOut
  return missing === 0 ? cleanText(shown) : `${cleanText(shown)} [${missing} characters left out]`
}
