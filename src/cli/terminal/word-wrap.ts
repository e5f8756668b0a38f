import { textWidth } from './text-width.ts'

export interface WordWrapOptions {
  /** Columns that a line may take; `Infinity` never wraps. Asked at every word: terminals change. */
  readonly columns: () => number
  /** Before every line that is not empty. */
  readonly indent: string
}

/** Wraps text that comes in pieces. A word is held back until it is whole. */
export class WordWrap {
  readonly #options: WordWrapOptions
  /** Of the line under way. */
  #column = 0
  /** What its following lines begin with. */
  #hanging = ''
  #isLineStart = true
  #spaces = ''
  #word = ''

  constructor(options: WordWrapOptions) {
    this.#options = options
  }

  /** What is to be written now. */
  push(text: string): string {
    let out = ''
    for (const [token] of text.matchAll(/\n|[^\S\n]+|\S+/g)) {
      if (token === '\n') out += this.#flush() + this.#newLine()
      else if (/\S/.test(token)) this.#word += token
      else {
        out += this.#flush()
        this.#spaces += token
      }
    }
    return out
  }

  /** The rest, and the end of the last line if it is open. */
  end(): string {
    const rest = this.#flush()
    const open = this.#column > 0
    this.#newLine()
    return open ? `${rest}\n` : rest
  }

  #flush(): string {
    const word = this.#word
    const spaces = this.#spaces
    if (word === '') return ''
    this.#word = ''
    this.#spaces = ''
    const { columns, indent } = this.#options
    if (this.#isLineStart) {
      this.#isLineStart = false
      this.#hanging = hangingOf(spaces, word)
      return this.#put(indent + spaces + word)
    }
    const isTooLong = this.#column + textWidth(spaces + word) > columns()
    const canBreak = this.#column > textWidth(indent + this.#hanging)
    if (!isTooLong || !canBreak) return this.#put(spaces + word)
    this.#column = 0
    return `\n${this.#put(indent + this.#hanging + word)}`
  }

  #put(text: string): string {
    this.#column += textWidth(text)
    return text
  }

  #newLine(): string {
    this.#column = 0
    this.#spaces = ''
    this.#isLineStart = true
    this.#hanging = ''
    return '\n'
  }
}

/** Lists and quotes go on under their text, so that a line that was wrapped does not look like two. */
function hangingOf(spaces: string, word: string): string {
  return /^(?:[-*+•>]|\d+[.)])$/.test(word) ? spaces + ' '.repeat(word.length + 1) : spaces
}

/** A whole text, wrapped. */
export function wrapped(text: string, columns: number, indent = ''): string {
  const wrap = new WordWrap({ columns: () => columns, indent })
  return wrap.push(text) + wrap.end()
}
