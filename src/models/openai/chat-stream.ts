import type { AssistantMessage } from '../../protocol/message.ts'
import { endingOf } from '../endings.ts'
import { readError, type SaidError } from '../error-body.ts'
import { addFields, continues, extraOf, type Fields, unknownFields } from '../extra-fields.ts'
import { failed, replied } from '../provider-failure.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { sizeOfTexts } from '../reply-bound.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readInclusiveCounts, type TokenCounts } from '../../rules/tokens/token-counts.ts'
import { fieldsOf, isObject, objectsIn, textIn, writeJson } from '../wire-values.ts'
import { ChatCalls } from './chat-calls.ts'
import { amongContent, type ThinkingField } from './chat-request.ts'
import type { ChatCompletionChunk } from './client.ts'

const thinkingFields: readonly [ThinkingField, ThinkingField] = ['reasoning_content', 'reasoning']

/** Of a message; what else a server sends goes back to it. The last are no part of a request, or are about one piece alone. */
const knownFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'audio',
  'channel',
  'token_id',
  'token_ids',
])
const knownPartFields: ReadonlySet<string> = new Set(['type', 'text', 'annotations'])

/** `fields`: of the provider's own; of thinking its parts as well. */
type Draft =
  | { readonly type: 'text'; text: string; readonly fields: Record<string, unknown> }
  | { readonly type: 'thinking'; text: string; readonly fields: Record<string, unknown> }
  | { readonly type: 'provider'; readonly fields: Record<string, unknown> }

export class ChatReader implements StreamReader<ChatCompletionChunk> {
  readonly #adapter: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #calls: ChatCalls
  /** Beside the content, by field. */
  readonly #thinking = new Map<ThinkingField, string>()
  readonly #drafts: Draft[] = []
  readonly #extra: Record<string, unknown> = {}
  #refusal = ''
  #finish: string | undefined
  /** Named in the newer way. */
  #hasCalls = false
  /** Counts without a choice, or the word for it, are the last that a server says. */
  #isLast = false
  #error: SaidError | undefined
  #usage: unknown
  unheardBytes = 0

  /** @param position of the answer in the conversation, for generated ids */
  constructor(adapter: string, model: string, position: number, onDelta: (delta: ModelDelta) => void) {
    this.#adapter = adapter
    this.#model = `${adapter}/${model}`
    this.#calls = new ChatCalls(position, onDelta, adapter)
    this.#onDelta = onDelta
  }

  get awaits(): 'answer' | 'counts' | 'nothing' {
    if (this.#finish === undefined) return 'answer'
    return this.#usage === undefined || this.#usage === null ? 'counts' : 'nothing'
  }

  take(chunk: ChatCompletionChunk): void {
    // The last chunk, with the usage, has an empty list of choices or none.
    const choices = objectsIn(chunk.choices).map(fieldsOf)
    // Only the first answer counts, in any position.
    const choice = choices.find(({ index }) => Number(index ?? 0) === 0)
    // Moonshot puts the usage in the choice.
    this.#usage = chunk.usage ?? choice?.['usage'] ?? this.#usage
    this.#isLast = choice === undefined && (isObject(chunk.usage) || fieldsOf(chunk)['isDone'] === true)
    if (choice === undefined) return
    // Azure sends content filter results without a delta; a server that does not stream sends the message.
    const delta = isObject(choice['delta']) ? fieldsOf(choice['delta']) : this.#rest(fieldsOf(choice['message']))
    const field = thinkingFields.find((name) => textIn(delta[name]) !== '')
    if (field !== undefined) {
      const text = textIn(delta[field])
      this.#thinking.set(field, (this.#thinking.get(field) ?? '') + text)
      this.#onDelta({ type: 'thinking', text })
    }
    this.#takeContent(delta['content'])
    this.#refusal += textIn(delta['refusal'])
    this.unheardBytes += sizeOfTexts(delta['refusal'])
    const calls = objectsIn(delta['tool_calls'])
    this.#hasCalls ||= calls.length > 0
    for (const call of calls) this.#takeCall(call)
    // Older servers give one call, without an id; some say it in both ways.
    if (isObject(delta['function_call']) && !this.#hasCalls) this.#takeCall({ function: delta['function_call'] })
    const unknown = unknownFields(delta, knownFields)
    for (const name of thinkingFields) if (typeof unknown[name] === 'string') delete unknown[name]
    addFields(this.#extra, unknown)
    this.unheardBytes += sizeOfTexts(unknown)
    // Some servers send an empty reason before the last, or the word.
    const finish = textIn(choice['finish_reason'])
    if (finish !== '' && finish !== 'null') this.#finish = finish
    const { error } = choice
    if (error !== undefined && error !== null) this.#error = readError(error)
  }

  /** Of a message that a server sends whole behind its pieces: what these did not say. */
  #rest(message: Fields): Fields {
    const { content, function_call: older, tool_calls: calls, ...fields } = message
    const rest: Record<string, unknown> = { ...fields, content: this.#restOf(content) }
    for (const [name, text] of this.#thinking) rest[name] = remainder(rest[name], text)
    for (const name of Object.keys(this.#extra)) delete rest[name]
    const isNew = (call: object): boolean => !this.#calls.has(call)
    const isKnown = isObject(older) && this.#calls.has({ function: older })
    return { ...rest, tool_calls: objectsIn(calls).filter(isNew), ...(!isKnown && { function_call: older }) }
  }

  #restOf(content: unknown): unknown {
    const text = this.#drafts.map((draft) => (draft.type === 'text' ? draft.text : '')).join('')
    return Array.isArray(content) && this.#drafts.length > 0 ? undefined : remainder(content, text)
  }

  #takeCall(call: object): void {
    this.#calls.take(call)
    // Arguments of a call without a name are held back.
    this.unheardBytes += sizeOfTexts(call)
  }

  /** A text, or a list of parts. */
  #takeContent(content: unknown): void {
    if (typeof content === 'string') return this.#addText(content)
    for (const part of Array.isArray(content) ? (content as unknown[]) : [content]) {
      if (typeof part === 'string') this.#addText(part)
      else if (isObject(part)) this.#takePart(fieldsOf(part))
    }
  }

  #takePart(part: Fields): void {
    const { type, text, thinking } = part
    const fields = unknownFields(part, knownPartFields)
    this.unheardBytes += sizeOfTexts(fields)
    if (type === 'thinking') this.#addThinking(textsIn(thinking ?? text), fields)
    else if (type === 'refusal') this.#refusal += textIn(part['refusal'])
    else if (typeof text === 'string' && (type === undefined || textIn(type).endsWith('text')))
      this.#addText(text, fields)
    else {
      if (typeof text === 'string') this.unheardBytes += sizeOfTexts(text)
      const last = this.#drafts.at(-1)
      if (last?.type === 'provider' && continues(last.fields, part, true)) addFields(last.fields, part)
      else this.#drafts.push({ type: 'provider', fields: { ...part } })
    }
  }

  #addText(text: string, fields: Fields = {}): void {
    if (text === '' && Object.keys(fields).length === 0) return
    const last = this.#drafts.at(-1)
    // What is beside a text belongs to it alone.
    const isFurther = last?.type === 'text' && (text === '' || writeJson(last.fields) === writeJson(fields))
    const draft = isFurther ? last : { type: 'text' as const, text: '', fields: {} }
    if (draft !== last) this.#drafts.push(draft)
    draft.text += text
    addFields(draft.fields, fields)
    if (text !== '') this.#onDelta({ type: 'text', text })
  }

  #addThinking(text: string, fields: Fields): void {
    const last = this.#drafts.at(-1)
    const isFurther = last?.type === 'thinking' && !last.fields['signature'] && last.fields['closed'] !== true
    const draft = isFurther ? last : { type: 'thinking' as const, text: '', fields: {} }
    if (draft !== last) this.#drafts.push(draft)
    draft.text += text
    addFields(draft.fields, fields)
    if (text !== '') this.#onDelta({ type: 'thinking', text })
  }

  outcome(isOver = false): ModelOutcome | undefined {
    // Some servers give no reason.
    if (isOver && this.#isLast && this.#content(false).length > 0) this.#finish ??= 'stop'
    if (this.#finish === undefined) return undefined
    const ending = endingOf(this.#finish)
    const refusal = ending === 'refused' ? `it ended with "${this.#finish}"` : this.#refusal
    if (refusal !== '') return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    if (ending !== 'end' && ending !== 'max-tokens') return failed({ kind: ending, message: this.#endingText() })
    const isCut = ending === 'max-tokens'
    // Some servers send "stop" with calls too.
    const said = { content: this.#content(isCut), ...extraOf(this.#adapter, this.#extra) }
    return replied(this.#model, said, { isCut, counts: countsOf(this.#usage) })
  }

  #endingText(): string {
    const reason = this.#error === undefined ? '' : `: ${this.#error.message}`
    return `${this.#model} ended its answer with finish_reason "${this.#finish ?? ''}"${reason}`
  }

  #content(isCut: boolean): AssistantMessage['content'] {
    const content: AssistantMessage['content'][number][] = []
    const provider = this.#adapter
    for (const [field, text] of this.#thinking) content.push({ type: 'thinking', provider, text, field })
    for (const draft of this.#drafts) {
      const { fields } = draft
      if (draft.type === 'text') content.push({ type: 'text', text: draft.text, ...extraOf(provider, fields) })
      else if (draft.type === 'thinking') {
        const { text } = draft
        const extra = extraOf(provider, ownForm(text, fields))
        content.push({ type: 'thinking', provider, text, field: amongContent, ...extra })
      } else {
        const { extra } = extraOf(provider, fields)
        if (extra !== undefined) content.push({ type: 'provider', provider, data: extra.fields })
      }
    }
    content.push(...this.#calls.blocks(isCut))
    return content
  }
}

/** The parts of thinking are kept where they are more than its text. */
function ownForm(text: string, { thinking, ...fields }: Fields): Fields {
  const isPlain = writeJson(thinking) === writeJson([{ type: 'text', text }])
  return isPlain || thinking === undefined || textsIn(thinking) !== text ? fields : { ...fields, thinking }
}

/** What follows the text, if it begins with it. */
function remainder(whole: unknown, text: string): unknown {
  return typeof whole === 'string' && whole.startsWith(text) ? whole.slice(text.length) : whole
}

function textsIn(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking
  return objectsIn(thinking)
    .map((part) => textIn(fieldsOf(part)['text']))
    .join('')
}

/** Moonshot and DeepSeek put cached tokens beside the other counts. */
function countsOf(usage: unknown): TokenCounts {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total, ...counts } = fieldsOf(usage)
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = fieldsOf(counts['prompt_tokens_details'])
  const { reasoning_tokens: reasoning } = fieldsOf(counts['completion_tokens_details'])
  const read = cacheRead ?? counts['cached_tokens'] ?? counts['prompt_cache_hit_tokens']
  const sent = { input, cacheRead: read, cacheWrite, output }
  return readInclusiveCounts(sent, { total, reasoning })
}
