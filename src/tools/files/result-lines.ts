import { standardMaxResultChars } from '../tool-output.ts'
import { cutText } from '../../base/cut-text.ts'
import { cleanText } from './clean-text.ts'
import type { TextLine } from './text-chunks.ts'

/** Characters reserved for notes at the end. */
const notesChars = 600

/** As many lines as fit in a result with the notes. */
export class ResultLines {
  readonly #lines: string[] = []
  #room = standardMaxResultChars - notesChars
  /** A line did not fit; no further one is added. */
  isFull = false

  get count(): number {
    return this.#lines.length
  }

  /** Returns whether the line was added. */
  add(line: string): boolean {
    this.isFull ||= line.length + 1 > this.#room
    if (this.isFull) return false
    this.#room -= line.length + 1
    this.#lines.push(line)
    return true
  }

  /** Notes are in brackets. */
  text(notes: readonly string[]): string {
    return [...this.#lines, ...notes.map((note) => `[${note}]`)].join('\n')
  }
}

/** Truncates a line, with a note of how much is missing. */
export function shownLine({ text, leftOut }: TextLine, maxChars: number): string {
  const shown = cutText(text, maxChars)
  const missing = text.length - shown.length + leftOut
  return missing === 0 ? cleanText(shown) : `${cleanText(shown)} [${missing} characters left out]`
}
