import type { TypedInput } from './key-codes.ts'

/** What follows an Enter within this time was not typed by hand. */
const burstMs = 20

/**
 * Lines that arrive at once are one pasted text, where the terminal does not say so: an Enter with text right behind it is a
 * line break. A line that ends in a backslash is left to the line editor.
 */
export class TypedBursts {
  readonly #onInput: (input: TypedInput) => void
  /** From the first Enter on. */
  #held: TypedInput[] = []
  /** An Enter that stands behind a backslash. */
  readonly #continued = new Set<TypedInput>()
  #endsInBackslash = false
  #timer: NodeJS.Timeout | undefined

  constructor(onInput: (input: TypedInput) => void) {
    this.#onInput = onInput
  }

  push(input: TypedInput): void {
    clearTimeout(this.#timer)
    // Some terminals send both for Enter.
    if (isPlain(input, 'enter') && isPlain(this.#held.at(-1), 'return')) return this.#wait()
    const isEnter = isPlain(input, 'return')
    const isHeld = isEnter || (this.#held.length > 0 && (input.kind === 'text' || isPlain(input, 'enter', 'tab')))
    if (!isHeld) {
      this.flush()
      this.#endsInBackslash = input.kind !== 'key' && input.text.endsWith('\\')
      return this.#onInput(input)
    }
    if (isEnter && this.#endsInBackslash) this.#continued.add(input)
    this.#endsInBackslash = input.kind === 'text' && input.text.endsWith('\\')
    this.#held.push(input)
    this.#wait()
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#held = []
  }

  /** Gives out what waits for more. */
  flush(): void {
    clearTimeout(this.#timer)
    const held = this.#held
    this.#held = []
    const last = held.findLastIndex(({ kind }) => kind === 'text')
    const isPasted = held.slice(0, last).some((input) => isPlain(input, 'return') && !this.#continued.has(input))
    this.#continued.clear()
    if (isPasted) this.#onInput({ kind: 'paste', text: held.map(textOf).join('') })
    else for (const input of held) this.#onInput(input)
  }

  #wait(): void {
    // What has arrived meanwhile is read first, however late this is.
    this.#timer = setTimeout(() => (this.#timer = setTimeout(() => this.flush())), burstMs)
  }
}

function isPlain(input: TypedInput | undefined, ...names: readonly string[]): boolean {
  if (input?.kind !== 'key' || input.key.name === undefined || !names.includes(input.key.name)) return false
  return input.key.meta !== true && input.key.ctrl !== true && input.key.shift !== true
}

function textOf(input: TypedInput): string {
  if (input.kind !== 'key') return input.text
  return input.key.name === 'tab' ? '\t' : '\n'
}
