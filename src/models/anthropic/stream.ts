import type { AssistantMessage, ProviderBlock } from '../../protocol/message.ts'
import { endingOf } from '../endings.ts'
import { addFields, extraOf, type Fields, unknownFields } from '../extra-fields.ts'
import { failed, replied } from '../provider-failure.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { sizeOfTexts } from '../reply-bound.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readCounts, type SentCounts } from '../../rules/tokens/token-counts.ts'
import { readArguments } from '../../rules/projection/tool-calls.ts'
import { fieldsOf, isObject, textIn, writeJson } from '../wire-values.ts'
import type { RawMessageStreamEvent, StopReason } from './client.ts'
import { ANTHROPIC, unsigned } from './request.ts'

type Event<Type> = Extract<RawMessageStreamEvent, { type: Type }>
type Block = AssistantMessage['content'][number]

/** `begun`: what the start of a block has of its text, and some servers say again. */
type Draft =
  | { readonly type: 'text'; text: string; begun: string; readonly extra: Extra }
  /** `signature`: absent of servers that give none. */
  | { readonly type: 'thinking'; text: string; begun: string; signature: string | undefined; readonly extra: Extra }
  | { readonly type: 'redacted_thinking'; readonly data: string; readonly extra: Extra }
  | {
      readonly type: 'tool_use'
      readonly id: string
      readonly name: string
      raw: string
      readonly input: unknown
      readonly extra: Extra
    }
  /** A block of another type, which goes back as it is. */
  | { readonly type: 'provider'; raw: string; readonly extra: Extra }
type Extra = Record<string, unknown>

export class MessageReader implements StreamReader<RawMessageStreamEvent> {
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #drafts: Draft[] = []
  /** By the index of their events, which some servers leave out, or use again. */
  readonly #open = new Map<unknown, Draft>()
  #counts: SentCounts = {}
  #stop: StopReason | null = null
  #refusal: string | undefined
  #isStopped = false
  unheardBytes = 0

  constructor(model: string, onDelta: (delta: ModelDelta) => void) {
    this.#model = model
    this.#onDelta = onDelta
  }

  take(event: RawMessageStreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#count(fieldsOf(event.message)['usage'])
        break
      case 'content_block_start':
        this.#start(event)
        break
      case 'content_block_delta':
        this.#grow(event)
        break
      case 'message_delta':
        this.#end(fieldsOf(event.delta))
        this.#count(event.usage)
        break
      // What ends the answer is its stop_reason: some servers send nothing behind it, or nothing but pings.
      case 'message_stop':
        this.#isStopped = true
        break
      case 'content_block_stop':
    }
  }

  #end({ stop_reason: stop, stop_details: details }: Readonly<Record<string, unknown>>): void {
    if (stop !== undefined && stop !== null) this.#stop = (textIn(stop) || writeJson(stop)) as StopReason
    // Null except on a refusal; absent from servers of older API versions.
    const { explanation, category } = fieldsOf(details)
    this.#refusal = textIn(explanation) || textIn(category) || undefined
  }

  /** Counts that the end of the stream does not repeat stay; some servers repeat them as 0. */
  #count(usage: unknown): void {
    const known = new Map(Object.entries(this.#counts))
    for (const [name, count] of Object.entries(countsOf(usage))) {
      if (count !== undefined && count !== null && (count !== 0 || !known.has(name))) known.set(name, count)
    }
    this.#counts = Object.fromEntries(known)
  }

  get awaits(): 'answer' | 'counts' | 'nothing' {
    if (this.#stop === null) return 'answer'
    return this.#isStopped || typeof this.#counts.output === 'number' ? 'nothing' : 'counts'
  }

  outcome(isOver = false): ModelOutcome | undefined {
    if (!this.#isStopped && (this.#stop === null || !isOver)) return undefined
    switch (this.#stop) {
      case 'end_turn':
      case 'stop_sequence':
      case 'tool_use':
        return this.#reply(false)
      case 'max_tokens':
        return this.#reply(true)
      case 'refusal': {
        const reason = this.#refusal === undefined ? '' : `: ${this.#refusal}`
        return failed({ kind: 'refused', message: `${this.#model} refused to answer${reason}` })
      }
      case 'model_context_window_exceeded':
        return failed({
          kind: 'context-overflow',
          message: `The context window of ${this.#model} was full mid-answer.`,
        })
      case 'pause_turn': {
        const message = `${this.#model} paused for a tool that runs at the provider; take such tools out of options.extra.`
        return failed({ kind: 'invalid-request', message })
      }
      case null:
        return failed({ kind: 'truncated', message: `${this.#model} ended its answer without a stop_reason` })
      default: {
        // The words of servers of other makers.
        const ending = endingOf(String(this.#stop))
        if (ending === 'end' || ending === 'max-tokens') return this.#reply(ending === 'max-tokens')
        const message = `${this.#model} ended its answer with stop_reason "${String(this.#stop)}"`
        return failed({ kind: ending, message })
      }
    }
  }

  #reply(isCut: boolean): ModelOutcome {
    const last = this.#drafts.at(-1)
    const content = this.#drafts.map((draft) => blockOf(draft, isCut && draft === last))
    return replied(this.#model, { content }, { isCut, counts: readCounts(this.#counts) })
  }

  #start({ index, content_block: block }: Event<'content_block_start'>): void {
    if (!isObject(block)) return
    this.unheardBytes += sizeOfTexts(block)
    const draft = draftOf(fieldsOf(block))
    if (draft === undefined) return
    this.#begin(index, draft)
    if ((draft.type === 'text' || draft.type === 'thinking') && draft.text !== '') {
      this.#onDelta({ type: draft.type, text: draft.text })
    } else if (draft.type === 'tool_use') {
      const { id, input, name } = draft
      this.#onDelta({ type: 'tool-call', id, name })
      if (!isEmpty(input)) this.#onDelta({ type: 'tool-arguments', id, text: writeJson(input) })
    }
  }

  #begin<D extends Draft>(index: unknown, draft: D): D {
    this.#drafts.push(draft)
    this.#open.set(index, draft)
    return draft
  }

  #grow({ index, delta: said }: Event<'content_block_delta'>): void {
    const delta = fieldsOf(said)
    const draft = this.#open.get(index)
    switch (delta['type']) {
      case 'text_delta':
        return this.#say(index, 'text', textIn(delta['text']))
      case 'thinking_delta':
        return this.#say(index, 'thinking', textIn(delta['thinking']))
      case 'input_json_delta': {
        const text = textIn(delta['partial_json'])
        if (draft?.type !== 'tool_use' && draft?.type !== 'provider') return
        draft.raw += text
        if (draft.type === 'tool_use') this.#onDelta({ type: 'tool-arguments', id: draft.id, text })
        else this.unheardBytes += sizeOfTexts(text)
        return
      }
      case 'citations_delta':
        if (draft === undefined) return
        // Two may be alike.
        draft.extra['citations'] = [...listIn(draft.extra['citations']), delta['citation']]
        this.unheardBytes += sizeOfTexts(delta['citation'])
        return
      case 'signature_delta':
        if (draft?.type !== 'thinking') return this.#add(draft, { signature: delta['signature'] })
        draft.signature = (draft.signature ?? '') + textIn(delta['signature'])
        this.unheardBytes += sizeOfTexts(delta['signature'])
        return
      default:
        return this.#add(draft, delta)
    }
  }

  /** Some servers begin no block, or one of another type. */
  #say(index: unknown, type: 'text' | 'thinking', text: string): void {
    const open = this.#open.get(index)
    const extra = {}
    const begun = (): Draft =>
      type === 'text'
        ? { type, text: '', begun: '', extra }
        : { type, text: '', begun: '', signature: undefined, extra }
    const draft = open?.type === type ? open : this.#begin(index, begun())
    if (draft.type !== 'text' && draft.type !== 'thinking') return
    const more = text.startsWith(draft.begun) ? text.slice(draft.begun.length) : text
    draft.begun = ''
    draft.text += more
    this.#onDelta({ type, text: more })
  }

  /** A piece of what is not known. */
  #add(draft: Draft | undefined, piece: Fields): void {
    if (draft === undefined) return
    const unknown = unknownFields(piece, knownFields[draft.type])
    addFields(draft.extra, unknown)
    this.unheardBytes += sizeOfTexts(unknown)
  }
}

/** Of blocks of each type; what else a server sends goes back to it. */
const knownFields: Readonly<Record<Draft['type'], ReadonlySet<string>>> = {
  text: new Set(['type', 'text']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
  tool_use: new Set(['type', 'id', 'name', 'input']),
  provider: new Set(['type']),
}

/** `undefined`: it has no type. */
function draftOf(block: Fields): Draft | undefined {
  const { type, text, thinking, signature, data, id, name, input } = block
  switch (type) {
    case 'text':
      return { type, text: textIn(text), begun: textIn(text), extra: extraIn(block, type) }
    case 'thinking': {
      const seal = typeof signature === 'string' ? signature : undefined
      return {
        type,
        text: textIn(thinking),
        begun: textIn(thinking),
        signature: seal,
        extra: extraIn(block, type),
      }
    }
    case 'redacted_thinking':
      return { type, data: textIn(data), extra: extraIn(block, type) }
    case 'tool_use':
      return { type, id: textIn(id), name: textIn(name), raw: '', input, extra: extraIn(block, type) }
    default:
      return textIn(type) === '' ? undefined : { type: 'provider', raw: '', extra: { ...block } }
  }
}

function extraIn(block: Fields, type: Draft['type']): Extra {
  const { caller, ...unknown } = unknownFields(block, knownFields[type])
  // That the model itself calls is so without saying.
  const isDirect = fieldsOf(caller)['type'] === 'direct'
  return { ...unknown, ...(caller !== undefined && !isDirect && { caller }) }
}

/** @param isCut the token limit cut the reply in this block */
function blockOf(draft: Draft, isCut: boolean): Block {
  switch (draft.type) {
    case 'text':
      return { type: 'text', text: draft.text, ...extraOf(ANTHROPIC, draft.extra) }
    case 'thinking': {
      const { extra, signature, text } = draft
      const sealed = { ...(signature !== undefined && { signature }), ...(!signature && { field: unsigned }) }
      return { type: 'thinking', provider: ANTHROPIC, text, ...sealed, ...extraOf(ANTHROPIC, extra) }
    }
    case 'redacted_thinking':
      return {
        type: 'thinking',
        provider: ANTHROPIC,
        text: '',
        redacted: draft.data,
        ...extraOf(ANTHROPIC, draft.extra),
      }
    case 'provider': {
      const { extra, raw } = draft
      const data = raw === '' ? extra : { ...extra, input: readArguments(raw).arguments }
      // The whole outcome is checked before it is stored.
      return { type: 'provider', provider: ANTHROPIC, data: data as ProviderBlock['data'] }
    }
    case 'tool_use': {
      // Without deltas the arguments are in the start of the block.
      const raw = draft.raw || (isEmpty(draft.input) ? '' : writeJson(draft.input))
      const extra = extraOf(ANTHROPIC, draft.extra)
      return { type: 'tool-call', id: draft.id, name: draft.name, ...readArguments(raw, isCut), ...extra }
    }
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isEmpty(input: unknown): boolean {
  return typeof input !== 'object' || input === null || Object.keys(input).length === 0
}

/** Cached input is counted apart, so nothing overlaps. */
function countsOf(usage: unknown): SentCounts {
  const { cache_creation: created, ...counts } = fieldsOf(usage)
  return {
    input: counts['input_tokens'],
    cacheRead: counts['cache_read_input_tokens'],
    cacheWrite: counts['cache_creation_input_tokens'],
    // The end of the stream does not repeat this split.
    cacheWrite1h: fieldsOf(created)['ephemeral_1h_input_tokens'],
    output: counts['output_tokens'],
  }
}
