import { cutText } from '../../rules/text/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { RunnerEvents, StreamEvent } from './events.ts'

/** So many characters of a text are kept while it is written. */
const maxTextSoFarChars = 1_000_000

/** What a model has written so far in a call that is in flight. */
export interface TextSoFar {
  readonly effect: Entity
  readonly attempt: number
  /** Of its text; neither thoughts nor calls. The first million characters. */
  readonly text: string
  /** Pieces so far: a `model-delta` of this effect and attempt with a lower `index` is in the text already. */
  readonly deltas: number
  /** There is more of it than is kept. */
  readonly isCut: boolean
}

/** The texts that models are writing, for those who begin to listen in the midst of one. */
export class TextsSoFar {
  readonly #byEffect = new Map<Entity, TextSoFar>()

  /** Follows what models stream. */
  hear(event: StreamEvent): void {
    if (event.type === 'model-delta') this.#add(event)
    else if (event.type === 'model-discarded') this.#discard(event)
  }

  /** Adds a streamed piece to the answer so far. */
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

  /** The pieces of a try count no more. */
  #discard({ attempt, effect }: RunnerEvents['model-discarded']): void {
    if (this.#byEffect.get(effect)?.attempt === attempt) this.#byEffect.delete(effect)
  }

  /** The world has done with an effect. */
  forget(effect: Entity): void {
    if (this.#byEffect.size > 0) this.#byEffect.delete(effect)
  }

  /** The text of the one of these effects that has any. */
  ofAny(effects: readonly Entity[]): TextSoFar | undefined {
    const effect = effects.find((each) => this.#byEffect.has(each))
    return effect === undefined ? undefined : this.#byEffect.get(effect)
  }
}
