import { Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import type { ModelDelta, ModelReply } from '../../models/port.ts'
import type { StandardInput } from '../../protocol/input.ts'
import type { AssistantMessage } from '../../protocol/message.ts'
import type { WrittenText } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import type { Input, WorldEvent } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { RunnerEvents, StreamEvent } from '../loop/events.ts'
import { type TextSoFar, TextsSoFar } from '../loop/texts-so-far.ts'

/** A call in flight that streams, as far as it was emitted here. */
interface Call extends Pick<WrittenText, 'attempt' | 'epoch'> {
  readonly effect: Entity
  readonly agent: Entity
  next: number
  text: string
  thinking: string
}

/**
 * What models stream in a world that is followed: what its holder has written of it becomes the events that it emits there.
 * What a call has committed ends it: the rest of its text comes right before that tick's events, or what was emitted is void.
 */
export class FollowedTexts {
  readonly #emit: (event: StreamEvent) => void
  readonly #texts = new TextsSoFar()
  readonly #calls = new Map<Entity, Call>()
  #after = 0

  constructor(emit: (event: StreamEvent) => void) {
    this.#emit = emit
  }

  /** The newest text that was taken. */
  get after(): number {
    return this.#after
  }

  soFar(effects: readonly Entity[]): TextSoFar | undefined {
    return this.#texts.ofAny(effects)
  }

  /** Takes what was written, which is of no ticks that are not known here. */
  take(world: World, texts: readonly WrittenText[]): void {
    const after = this.#after
    for (const text of texts) {
      if (text.id <= after) continue
      if (isInFlight(world, text)) this.#take(world, text)
      this.#after = Math.max(this.#after, text.id)
    }
  }

  /** A tick is about to be taken: replies in it end the calls that stream. */
  settle(world: World, events: readonly WorldEvent[], inputs: readonly Input[]): void {
    if (this.#calls.size === 0) return
    for (const event of events) {
      const call = event.type === 'model-replied' ? this.#calls.get(event['effect'] as Entity) : undefined
      if (call === undefined) continue
      const message = replyIn(inputs, call)
      if (message !== undefined) this.#complete(world, call, message)
    }
  }

  /** What was emitted of calls that are not in flight any more is void. */
  leave(world: World): void {
    for (const call of this.#calls.values()) if (!isInFlight(world, call)) this.#discard(world, call)
  }

  #take(world: World, text: WrittenText): void {
    const { attempt, effect, epoch, first, next } = text
    const known = this.#calls.get(effect)
    if (known !== undefined && (known.epoch > epoch || (known.epoch === epoch && known.next >= next))) return
    const isSame = known?.epoch === epoch && known.attempt === attempt
    // Something before it is missing: a text from the beginning comes, or the reply.
    if (first > (isSame ? known.next : 0)) return
    const deltas = JSON.parse(text.line) as readonly ModelDelta[]
    if (isSame && first === known.next) return this.#advance(world, known, deltas, text)
    const whole = textIn(deltas)
    if (isSame && first === 0 && whole.startsWith(known.text)) {
      const rest = whole.slice(known.text.length)
      return this.#advance(world, known, rest === '' ? [] : [{ type: 'text', text: rest }], { first: known.next, next })
    }
    if (first > 0) return
    if (known !== undefined) this.#discard(world, known)
    const { agent } = world.read(effect, OwnedBy)
    const call = { attempt, epoch, effect, agent, next: 0, text: '', thinking: '' }
    this.#calls.set(effect, call)
    this.#advance(world, call, deltas, text)
  }

  #complete(world: World, call: Call, { content }: AssistantMessage): void {
    const text = textIn(content)
    const thinking = textIn(content, 'thinking')
    if (!text.startsWith(call.text) || !thinking.startsWith(call.thinking)) return this.#discard(world, call)
    // Who came in the midst of the text has not seen the thoughts before it.
    const thought = call.text === '' || call.thinking !== '' ? thinking.slice(call.thinking.length) : ''
    const said = text.slice(call.text.length)
    const rest: ModelDelta[] = []
    if (thought !== '') rest.push({ type: 'thinking', text: thought })
    if (said !== '') rest.push({ type: 'text', text: said })
    this.#advance(world, call, rest, { first: call.next, next: call.next + rest.length })
    this.#forget(call)
  }

  #advance(
    world: World,
    call: Call,
    deltas: readonly ModelDelta[],
    { first, next }: Pick<WrittenText, 'first' | 'next'>,
  ): void {
    call.next = next
    for (const [place, delta] of deltas.entries()) {
      if (delta.type === 'text') call.text += delta.text
      else if (delta.type === 'thinking') call.thinking += delta.text
      this.#tell({ type: 'model-delta', ...placeOf(world, call), index: first + place, delta })
    }
  }

  #discard(world: World, call: Call): void {
    this.#tell({ type: 'model-discarded', ...placeOf(world, call) })
    this.#forget(call)
  }

  #forget({ effect }: Call): void {
    this.#calls.delete(effect)
    this.#texts.forget(effect)
  }

  #tell(event: StreamEvent): void {
    this.#texts.hear(event)
    this.#emit(event)
  }
}

type Place = Pick<RunnerEvents['model-delta'], 'agent' | 'attempt' | 'effect' | 'world'>

function placeOf({ name: world }: World, { agent, attempt, effect }: Call): Place {
  return { world, agent, effect, attempt }
}

export function isInFlight(world: World, { attempt, effect }: Pick<WrittenText, 'attempt' | 'effect'>): boolean {
  if (!world.exists(effect) || world.get(effect, Effect)?.attempt !== attempt) return false
  return (world.has(effect, Pending) || world.has(effect, Running)) && world.has(effect, OwnedBy)
}

function replyIn(inputs: readonly Input[], { attempt, effect }: Call): AssistantMessage | undefined {
  for (const input of inputs) {
    if (input.kind !== 'outcome') continue
    const { outcome, ...of } = input as Extract<StandardInput, { readonly kind: 'outcome' }>
    if (of.effect === effect && of.attempt === attempt && outcome.ok) return (outcome.value as ModelReply).message
  }
  return undefined
}

function textIn(
  pieces: readonly { readonly type: string; readonly text?: string }[],
  type: 'text' | 'thinking' = 'text',
): string {
  let text = ''
  for (const piece of pieces) if (piece.type === type) text += piece.text ?? ''
  return text
}
