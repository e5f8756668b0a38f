import { cutText } from '../../base/cut-text.ts'
import { ResultLines, shownLine } from '../../tools/files/result-lines.ts'

/** How much of a line is shown, in characters. */
const maxShownChars = 500

/** A search that finds more matching lines ends. */
const maxMatches = 100_000

interface FoundLine {
  readonly number: number
  readonly text: string
  readonly isMatch: boolean
}

interface FoundFile {
  readonly path: string
  readonly lines: FoundLine[]
  matches: number
}

/** Lines that a search found, file by file in any order; of them, the first in the order of paths are shown. */
export class FoundLines {
  readonly #limit: number
  /** Lines shown before and behind each match. */
  readonly #context: number
  #files: FoundFile[] = []
  #file: FoundFile | undefined
  /** Matches in `#files`. */
  #kept = 0
  /** Matching lines. */
  total = 0
  shown = 0
  /** Lines that were too long to be taken. */
  longLines = 0

  constructor({ limit, context }: { readonly limit: number; readonly context: number }) {
    this.#limit = limit
    this.#context = context
  }

  get isFull(): boolean {
    return this.total >= maxMatches
  }

  /** Without a path, the file does not count. */
  begin(path: string | undefined): void {
    this.#file = path === undefined ? undefined : { path, lines: [], matches: 0 }
  }

  line(number: number, text: string, isMatch: boolean): void {
    const file = this.#file
    if (file === undefined) return
    if (isMatch) {
      file.matches++
      this.total++
    }
    if (file.matches <= this.#limit) {
      const start = cutText(text, maxShownChars)
      file.lines.push({
        number,
        text: shownLine({ text: start, leftOut: text.length - start.length }, maxShownChars),
        isMatch,
      })
    }
  }

  end(isBinary: boolean): void {
    const file = this.#file
    this.#file = undefined
    if (file === undefined) return
    if (isBinary) {
      this.total -= file.matches
      return
    }
    this.#kept += file.matches
    this.#files.push(file)
    if (this.#kept > 10 * this.#limit) this.#drop()
  }

  /** What is shown, with notes behind it. */
  text(notes: () => readonly string[]): string {
    // The search may have ended in the midst of a file.
    this.end(false)
    this.#drop()
    const result = new ResultLines()
    for (const { path, lines } of this.#files) {
      let [last, lastMatch] = [-1, 0]
      for (const { number, text, isMatch } of lines) {
        if (this.shown === this.#limit && (isMatch || number > lastMatch + this.#context)) break
        const isApart = this.#context > 0 && result.count > 0 && number !== last + 1
        const mark = isMatch ? ':' : '-'
        const added = result.add(`${isApart ? '--\n' : ''}${path}${mark}${number}${mark} ${text}`)
        last = number
        if (!isMatch) continue
        lastMatch = number
        if (added) this.shown++
      }
    }
    return result.text(notes())
  }

  /** Forgets files behind those that are shown. */
  #drop(): void {
    this.#files.sort((one, other) => (one.path < other.path ? -1 : 1))
    let matches = 0
    const end = this.#files.findIndex((file) => (matches += file.matches) > this.#limit)
    if (end !== -1) this.#files.length = end + 1
    this.#kept = matches
  }
}
