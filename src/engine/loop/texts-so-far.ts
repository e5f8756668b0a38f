import { cutText } from '../../base/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { RunnerEvents, StreamEvent } from './events.ts'

const maxTextSoFarChars = 1_000_000

/** What a model has streamed so far in a call in flight. */
export interface TextSoFar {
  readonly effect: Entity
  readonly attempt: number
  /** Without thoughts and tool calls. The first million characters. */
  readonly text: string
  /** A `model-delta` of this effect and attempt with a lower `index` is in the text already. */
  readonly deltas: number
  /** The text is longer than what is kept. */
  readonly isCut: boolean
}

/** Who passes on what models stream. */
export interface TextHearer {
  hear(event: RunnerEvents['model-delta']): void
  /** The call is over. */
  forget(effect: Entity): void
}

export class TextsSoFar {
  readonly #byEffect = new Map<Entity, TextSoFar>()
  readonly #hearer: TextHearer | undefined

  constructor(hearer?: TextHearer) {
    this.#hearer = hearer
  }

  hear(event: StreamEvent): void {
    if (event.type === 'model-delta') {
      this.#add(event)
      this.#hearer?.hear(event)
    }
    // The discarded try may not be the newest.
    else if (event.type === 'model-discarded' && this.#byEffect.get(event.effect)?.attempt === event.attempt)
      this.#byEffect.delete(event.effect)
  }

  #add({ attempt, delta, effect, index }: RunnerEvents['model-delta']): void {
    const known = this.#byEffect.get(effect)
    const { text, isCut } = known?.attempt === attempt ? known : { text: '', isCut: false }
    const deltas = index + 1
    if (delta.type !== 'text' || isCut) return void this.#byEffect.set(effect, { effect, attempt, text, deltas, isCut })
    const longer = text + delta.text
    const isTooLong = longer.length > maxTextSoFarChars
    const kept = isTooLong ? cutText(longer, maxTextSoFarChars) : longer
    this.#byEffect.set(effect, { effect, attempt, text: kept, deltas, isCut: isTooLong })
  }

  forget(effect: Entity): void {
    if (this.#byEffect.size > 0) this.#byEffect.delete(effect)
    this.#hearer?.forget(effect)
  }

  ofAny(effects: readonly Entity[]): TextSoFar | undefined {
    const effect = effects.find((each) => this.#byEffect.has(each))
    return effect === undefined ? undefined : this.#byEffect.get(effect)
  }
}
