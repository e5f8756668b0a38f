import type { ModelDelta } from './port.ts'

/**
 * Hands deltas on in whole characters: half a surrogate pair at the end of a text waits for its other half. One that stays
 * alone becomes U+FFFD.
 */
export class WholeCharacters {
  readonly #onDelta: (delta: ModelDelta) => void
  /** A delta of the first half of a pair. */
  #held: Exclude<ModelDelta, { type: 'tool-call' }> | undefined

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta
  }

  take(delta: ModelDelta): void {
    if (this.#held !== undefined && !isSame(this.#held, delta)) this.flush()
    if (delta.type === 'tool-call') {
      this.#onDelta({ ...delta, id: delta.id.toWellFormed(), name: delta.name.toWellFormed() })
      return
    }
    const text = (this.#held?.text ?? '') + delta.text
    this.#held = undefined
    // Mostly there is nothing to do.
    if (text === delta.text && text.isWellFormed()) return this.#onDelta(delta)
    const isOpen = /[\ud800-\udbff]$/.test(text)
    if (isOpen) this.#held = { ...delta, text: text.slice(-1) }
    const whole = isOpen ? text.slice(0, -1) : text
    if (whole !== '') this.#onDelta({ ...delta, text: whole.toWellFormed() })
  }

  /** Nothing more comes of the text that is open. */
  flush(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) this.#onDelta({ ...held, text: held.text.toWellFormed() })
  }
}

function isSame(one: ModelDelta, other: ModelDelta): boolean {
  if (one.type === 'tool-arguments') return other.type === one.type && other.id === one.id
  return other.type === one.type
}
