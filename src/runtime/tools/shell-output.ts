import { stripVTControlCharacters, TextDecoder } from 'node:util'
import { cutStart, cutText } from '../../base/cut-text.ts'
import { cleanText } from '../../tools/files/clean-text.ts'
import type { ToolContext } from '../../tools/port.ts'
import { keptText, leftOutNote } from '../../tools/tool-output.ts'

const headChars = 5_000
const tailChars = 25_000

/** How much of an output goes to a handle, in characters. */
const maxKeptChars = 10_000_000

/** A program that prints more is stopped. */
export const maxOutputChars = 200_000_000

/** Longest terminal code that is waited for, in characters. */
const maxCodeChars = 1_000

/** What a command prints, without terminal codes: its beginning and its end, however long it is. */
export class ShellOutput {
  #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() }
  readonly #whole: string[] = []
  #keptChars = 0
  #tail = ''
  /** A terminal code that has only begun. */
  #begun = ''
  lengthChars = 0

  push(bytes: Uint8Array, stream: 'stdout' | 'stderr'): void {
    const text = this.#begun + this.#decoders[stream].decode(bytes, { stream: true })
    const at = text.lastIndexOf('\u001b')
    const isCut =
      at !== -1 && text.length - at < maxCodeChars && stripVTControlCharacters(text.slice(at))[0] === '\u001b'
    this.#begun = isCut ? text.slice(at) : ''
    this.#add(cleanText(isCut ? text.slice(0, at) : text))
  }

  #add(text: string): void {
    this.lengthChars += text.length
    this.#tail = cutStart(this.#tail + text, tailChars)
    if (this.#keptChars >= maxKeptChars) return
    const kept = cutText(text, maxKeptChars - this.#keptChars)
    this.#whole.push(kept)
    this.#keptChars += kept.length === text.length ? kept.length : maxKeptChars
  }

  /** Takes what is printed from now on; this one may end within a character or a terminal code, and gets no more. */
  next(): ShellOutput {
    const next = new ShellOutput()
    next.#decoders = this.#decoders
    next.#begun = this.#begun
    return next
  }

  /** Nothing more is printed: what has only begun counts as it is. */
  end(): void {
    this.#add(cleanText(this.#begun + this.#decoders.stdout.decode() + this.#decoders.stderr.decode()))
    this.#begun = ''
  }

  /** All of it, or its beginning and its end with a note between them. */
  async text({ handles }: Pick<ToolContext, 'handles'>): Promise<string> {
    const whole = this.#whole.join('')
    if (this.lengthChars <= headChars + tailChars) return whole.replace(/\n$/, '')
    const head = cutText(whole, headChars)
    const where = await keptText(handles, whole)
    const left = this.lengthChars - head.length - this.#tail.length
    const isWhole = whole.length === this.lengthChars
    return `${head}\n[${leftOutNote(left, where && { ...where, isWhole })}]\n${this.#tail}`
  }
}
