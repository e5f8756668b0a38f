import type { AssistantMessage, ProviderBlock, TextBlock } from '../../protocol/message.ts'
import { endingOf } from '../endings.ts'
import { readError } from '../error-body.ts'
import { extraOf, type Fields, unknownFields } from '../extra-fields.ts'
import { failed, failureOf, replied } from '../provider-failure.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { sizeOfTexts } from '../reply-bound.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readInclusiveCounts, type TokenCounts } from '../../rules/tokens/token-counts.ts'
import { readArguments } from '../../rules/projection/tool-calls.ts'
import { fieldsOf, isObject, objectsIn, textIn, writeJson } from '../wire-values.ts'
import type { ResponseStreamEvent } from './client.ts'
import { inContent } from './responses-request.ts'

type Block = AssistantMessage['content'][number]

/** An item of the answer while it comes. */
interface Draft {
  readonly index: number
  /** As the server has it, or as far as it is put together here. */
  item: Fields
  isDone: boolean
  /** Of deltas. */
  text: string
}

export class ResponseReader implements StreamReader<ResponseStreamEvent> {
  readonly #adapter: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #drafts: Draft[] = []
  readonly #content: Block[] = []
  #newestCall: { readonly at: number; readonly raw: string } | undefined
  #refusal: string | undefined
  /** Of deltas. */
  #refused = ''
  #final: Fields | undefined
  unheardBytes = 0
  /** From the type of the last event; its `status` may differ. */
  #ending: 'completed' | 'incomplete' | 'failed' | undefined

  constructor(adapter: string, model: string, onDelta: (delta: ModelDelta) => void) {
    this.#adapter = adapter
    this.#model = `${adapter}/${model}`
    this.#onDelta = onDelta
  }

  get awaits(): 'answer' | 'nothing' {
    return this.#final === undefined ? 'answer' : 'nothing'
  }

  take(event: ResponseStreamEvent): void {
    switch (event.type) {
      case 'response.output_text.delta':
        this.#say(event, textIn(event.delta))
        break
      // Some servers say it in one piece.
      case 'response.output_text.done':
        if (this.#draftOf(event, { type: 'message' }).text === '') this.#say(event, textIn(event.text))
        break
      case 'response.refusal.delta':
        this.#refused += textIn(event.delta)
        this.unheardBytes += sizeOfTexts(event.delta)
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#draftOf(event, { type: 'reasoning' }).text += textIn(event.delta)
        this.#onDelta({ type: 'thinking', text: textIn(event.delta) })
        break
      case 'response.content_part.done': {
        const part = fieldsOf(event.part)
        if (part['type'] !== 'output_text') break
        if (this.#draftOf(event, { type: 'message' }).text === '') this.#say(event, textIn(part['text']))
        break
      }
      case 'response.function_call_arguments.delta':
        this.#write(event, textIn(event.delta))
        break
      case 'response.function_call_arguments.done':
        if (this.#draftOf(event, { type: 'function_call' }).text === '') this.#write(event, textIn(event.arguments))
        break
      case 'response.output_item.added': {
        const item = fieldsOf(event.item)
        this.#draftOf({ ...event, item_id: item['id'] }, item, true)
        if (item['type'] !== 'function_call') break
        this.unheardBytes += sizeOfTexts(item)
        this.#onDelta({ type: 'tool-call', id: textIn(item['call_id']), name: textIn(item['name']) })
        break
      }
      case 'response.output_item.done': {
        const item = fieldsOf(event.item)
        const draft = this.#draftOf({ ...event, item_id: item['id'] }, item)
        draft.item = item
        draft.isDone = true
        this.unheardBytes += sizeOfTexts(event.item)
        break
      }
      case 'response.completed':
        this.#end('completed', event.response)
        break
      case 'response.incomplete':
        this.#end('incomplete', event.response)
        break
      case 'response.failed':
        this.#end('failed', event.response)
        break
      default:
        // The word of some servers. Other events repeat parts of the items.
        if (textIn(fieldsOf(event)['type']) === 'response.done') this.#end('completed', fieldsOf(event)['response'])
    }
  }

  /**
   * The item that an event is about. Servers leave out its place, its id, or both.
   * @param isNew the event begins it. @default false
   */
  #draftOf(event: object, item: Fields, isNew = false): Draft {
    const { item_id: id, output_index: index } = fieldsOf(event)
    const isSame = (draft: Draft): boolean => {
      if (typeof id === 'string' && id !== '' && draft.item['id'] === id) return true
      const [one, other] = [textIn(draft.item['call_id']), textIn(item['call_id'])]
      if (draft.item['type'] !== item['type'] || (one !== '' && other !== '' && one !== other)) return false
      return typeof index === 'number' ? draft.index === index : !isNew && textIn(id) === ''
    }
    const known = this.#drafts.findLast((draft) => !draft.isDone && isSame(draft))
    if (known !== undefined) return known
    const place = typeof index === 'number' ? index : this.#drafts.length
    const draft = { index: place, item: { ...item, ...(typeof id === 'string' && { id }) }, isDone: false, text: '' }
    this.#drafts.push(draft)
    return draft
  }

  #say(event: object, text: string): void {
    this.#draftOf(event, { type: 'message' }).text += text
    this.#onDelta({ type: 'text', text })
  }

  #write(event: object, text: string): void {
    const draft = this.#draftOf(event, { type: 'function_call' })
    draft.text += text
    this.#onDelta({ type: 'tool-arguments', id: textIn(draft.item['call_id']), text })
  }

  outcome(): ModelOutcome | undefined {
    if (this.#final === undefined) return undefined
    const { error, incomplete_details: details, status, usage } = this.#final
    const ending = status ?? this.#ending
    if (error) return failed(failureOf(this.#adapter, readError(error)))
    const incomplete = isObject(details) ? fieldsOf(details) : undefined
    const reason = textIn(incomplete?.['reason'])
    const cause = reason === '' ? undefined : endingOf(reason)
    const refusal =
      this.#refusal ?? (this.#refused || undefined) ?? (cause === 'refused' ? `it ended with "${reason}"` : undefined)
    if (refusal !== undefined) {
      return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    }
    if (ending === 'failed' || this.#ending === 'failed') {
      return failed({ kind: 'overloaded', message: `${this.#model} failed and gave no reason` })
    }
    const isIncomplete = incomplete || ending === 'incomplete' || this.#ending === 'incomplete'
    if (isIncomplete && cause !== 'max-tokens') {
      const kind = cause === undefined || cause === 'end' ? 'truncated' : cause
      const why = reason || 'no reason given'
      return failed({ kind, message: `${this.#model} left its answer incomplete: ${why}` })
    }
    if (!isIncomplete && ending !== 'completed') {
      return failed({ kind: 'truncated', message: `${this.#model} ended its answer with status ${writeJson(ending)}` })
    }
    if (isIncomplete) this.#markCut()
    const isCut = Boolean(isIncomplete)
    return replied(this.#model, { content: this.#content }, { isCut, counts: countsOf(usage) })
  }

  /** The newest call of a cut reply may have lost all its arguments. */
  #markCut(): void {
    const { at = -1, raw = '' } = this.#newestCall ?? {}
    const call = this.#content[at]
    if (call?.type === 'tool-call') this.#content[at] = { ...call, ...readArguments(raw, true) }
  }

  #end(ending: 'completed' | 'incomplete' | 'failed', response: unknown): void {
    if (this.#final !== undefined) return
    this.#ending = ending
    this.#final = fieldsOf(response)
    for (const item of this.#items(objectsIn(this.#final['output']).map(fieldsOf))) this.#keep(item)
    // Some servers say the text beside the items alone.
    const text = textIn(this.#final['output_text'])
    if (this.#content.length > 0 || text === '') return
    this.#content.push({ type: 'text', text })
    this.#onDelta({ type: 'text', text })
  }

  /** What the stream has said item by item, what its last event alone has, and what came in deltas alone. */
  #items(last: readonly Fields[]): readonly Fields[] {
    const drafts = this.#drafts.toSorted((one, other) => one.index - other.index)
    const drafted = pairsOf(drafts, last)
    const items: Fields[] = []
    for (const draft of drafts) {
      const own = itemOf(draft)
      const inLast = last[drafted.indexOf(draft)]
      // The last event may leave out what the items have.
      const isBest = own !== undefined && !isHollow(own) && (draft.isDone || inLast === undefined || isHollow(inLast))
      const item = isBest ? own : (inLast ?? own)
      const isRepeated = !draft.isDone && drafts.some((other) => isRepetition(draft, other))
      if (item === undefined || isRepeated) continue
      if (item === inLast) this.unheardBytes += sizeOfTexts(item)
      if (item === inLast && draft.text === '') this.#hear(item, true)
      items.push(item)
    }
    for (const [index, item] of last.entries()) {
      if (drafted[index] !== undefined) continue
      this.unheardBytes += sizeOfTexts(item)
      this.#hear(item, false)
      items.splice(Math.min(index, items.length), 0, item)
    }
    return items
  }

  /** Emits an item that arrived whole, at the end. @param isBegun its call was emitted before */
  #hear({ type, content, call_id: id, name, arguments: written }: Fields, isBegun: boolean): void {
    if (type === 'function_call') {
      if (!isBegun) this.#onDelta({ type: 'tool-call', id: textIn(id), name: textIn(name) })
      this.#onDelta({ type: 'tool-arguments', id: textIn(id), text: textIn(written) })
    } else if (type === 'message') {
      for (const part of partsIn(content)) this.#onDelta({ type: 'text', text: textIn(part['text']) })
    }
  }

  #keep(item: Fields): void {
    const { type } = item
    const provider = this.#adapter
    if (type === 'reasoning') this.#content.push(...this.#thinking(item))
    else if (type === 'function_call') {
      const { call_id: id, name, arguments: written } = item
      const raw = typeof written === 'object' && written !== null ? writeJson(written) : textIn(written)
      this.#newestCall = { at: this.#content.length, raw }
      const extra = extraOf(provider, unknownFields(item, knownCallFields))
      this.#content.push({ type: 'tool-call', id: textIn(id), name: textIn(name), ...readArguments(raw), ...extra })
    } else if (type === 'message') {
      const { phase, content } = item
      let extra = extraOf(provider, unknownFields(item, knownMessageFields))
      for (const part of partsIn(content)) {
        if (part['type'] === 'refusal') this.#refusal = textIn(part['refusal'])
        else {
          this.#content.push({ type: 'text', text: textIn(part['text']), ...(isPhase(phase) && { phase }), ...extra })
          extra = {}
        }
      }
    } else if (isWhole(item)) {
      this.#content.push({ type: 'provider', provider, data: item as ProviderBlock['data'] })
    }
  }

  /** One block per part of the summary and of the content, so that the item can go back unchanged. */
  #thinking(item: Fields): Block[] {
    const { id, summary, content, encrypted_content: encrypted } = item
    const provider = this.#adapter
    const parts: { readonly text: string; readonly field?: string }[] = [
      ...textsOf(summary).map((text) => ({ text })),
      ...textsOf(content).map((text) => ({ text, field: inContent })),
    ]
    if (parts.length === 0) parts.push({ text: '' })
    const redacted = textIn(encrypted) === '' ? {} : { redacted: textIn(encrypted) }
    const first = { ...redacted, ...extraOf(provider, unknownFields(item, knownReasoningFields)) }
    return parts.map((part, index) => ({
      type: 'thinking',
      provider,
      ...(typeof id === 'string' && { id }),
      ...part,
      ...(index === 0 && first),
    }))
  }
}

const knownCallFields: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'name', 'arguments', 'status'])
const knownMessageFields: ReadonlySet<string> = new Set(['type', 'id', 'role', 'status', 'content', 'phase'])
const knownReasoningFields: ReadonlySet<string> = new Set([
  'type',
  'id',
  'summary',
  'content',
  'encrypted_content',
  'status',
])

function textsOf(parts: unknown): readonly string[] {
  return partsIn(parts).map((part) => textIn(part['text']))
}

/** Of a content, which some servers give as a text. */
function partsIn(content: unknown): readonly Fields[] {
  return typeof content === 'string' && content !== '' ? [{ text: content }] : objectsIn(content).map(fieldsOf)
}

/** An item as far as it is known; `undefined`: too little of it. */
function itemOf({ item, isDone, text }: Draft): Fields | undefined {
  const { name, type } = item
  if (text !== '' && isHollow(item)) {
    if (type === 'message') return { ...item, content: [{ type: 'output_text', text }] }
    if (type === 'reasoning') return { ...item, content: [{ type: 'reasoning_text', text }] }
    if (textIn(name) !== '') return { ...item, arguments: text }
  }
  return isDone ? item : undefined
}

/** Has it nothing of what its type is there for? */
function isHollow({ arguments: written, content, encrypted_content: encrypted, summary, type }: Fields): boolean {
  const isEmpty = partsIn(content).length === 0
  if (type === 'reasoning') return isEmpty && partsIn(summary).length === 0 && !encrypted
  return (type === 'message' && isEmpty) || (type === 'function_call' && !written)
}

/** The draft of each item, if the stream has one: the same by name, else in the same place. */
function pairsOf(drafts: readonly Draft[], items: readonly Fields[]): readonly (Draft | undefined)[] {
  const pairs: (Draft | undefined)[] = items.map(() => undefined)
  for (const isPair of [isNamedSo, isPlacedSo]) {
    for (const [index, item] of items.entries()) {
      pairs[index] ??= drafts.find((draft) => !pairs.includes(draft) && isPair(draft, item, index))
    }
  }
  return pairs
}

function isNamedSo(draft: Draft, item: Fields): boolean {
  if (draft.item['type'] !== item['type']) return false
  const isNamed = (name: string): boolean => textIn(item[name]) !== '' && draft.item[name] === item[name]
  if (isNamed('call_id') || isNamed('id')) return true
  const text = textOfItem(item)
  return text !== '' && text === (draft.text || textOfItem(draft.item))
}

/** Some servers give an item other ids when it is done. */
function isRepetition(draft: Draft, { index, isDone, item }: Draft): boolean {
  if (!isDone) return false
  const { arguments: written, name, type } = item
  const isCall = type === 'function_call' && draft.item['type'] === type
  return (
    isNamedSo(draft, item) || (isCall && index === draft.index && name === draft.item['name'] && written === draft.text)
  )
}

function isPlacedSo({ index, item }: Draft, { call_id: callId, type }: Fields, place: number): boolean {
  const isOther = textIn(callId) !== '' && textIn(item['call_id']) !== '' && item['call_id'] !== callId
  return index === place && item['type'] === type && !isOther
}

function textOfItem({ content }: Fields): string {
  return textsOf(content).join('')
}

/** Does an item of the provider's own need no answer? */
function isWhole({ call_id: callId, type }: Fields): boolean {
  if (typeof type !== 'string' || type.endsWith('_approval_request')) return false
  return typeof callId !== 'string'
}

/** Drops phases of later API versions: messages cannot hold them. */
function isPhase(phase: unknown): phase is NonNullable<TextBlock['phase']> {
  return phase === 'commentary' || phase === 'final_answer'
}

/** Compatible servers omit counts or send null. */
function countsOf(usage: unknown): TokenCounts {
  const { input_tokens: input, output_tokens: output, total_tokens: total, ...details } = fieldsOf(usage)
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = fieldsOf(details['input_tokens_details'])
  const { reasoning_tokens: reasoning } = fieldsOf(details['output_tokens_details'])
  return readInclusiveCounts({ input, cacheRead, cacheWrite, output }, { total, reasoning })
}
