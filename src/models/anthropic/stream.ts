import type { AssistantMessage, ProviderBlock } from '../../protocol/message.ts'
import { endingOf } from '../endings.ts'
import { extraOf, type Fields, unknownFields } from '../extra-fields.ts'
import { failed, replied } from '../provider-failure.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { sizeOfTexts } from '../reply-bound.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readCounts, type SentCounts } from '../../rules/tokens/token-counts.ts'
import { readArguments } from '../../rules/projection/tool-calls.ts'
import { fieldsOf, isObject, textIn, writeJson } from '../wire-values.ts'
import type { RawMessageStreamEvent, StopReason } from './client.ts'
import { ANTHROPIC, isServerCall, unsigned } from './request.ts'

type Event<Type> = Extract<RawMessageStreamEvent, { type: Type }>
type Block = AssistantMessage['content'][number]

type Draft =
  | { type: 'text'; text: string; extra: Record<string, unknown> }
  /** `signature`: absent of servers that give none. */
  | { type: 'thinking'; text: string; signature: string | undefined; extra: Fields }
  | { type: 'redacted'; data: string; extra: Fields }
  | { type: 'tool-call'; id: string; name: string; raw: string; input: unknown; extra: Fields }
  | { type: 'provider'; data: ProviderBlock['data']; raw: string }

export class MessageReader implements StreamReader<RawMessageStreamEvent> {
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #drafts = new Map<number, Draft>()
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

  /** Counts that the end of the stream does not repeat stay. */
  #count(usage: unknown): void {
    const said = Object.entries(countsOf(usage)).filter(([, count]) => count !== undefined && count !== null)
    this.#counts = { ...this.#counts, ...Object.fromEntries(said) }
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
    const drafts = [...this.#drafts.values()]
    const content = drafts.map((draft, index) => blockOf(draft, isCut && index === drafts.length - 1))
    return replied(this.#model, { content }, { isCut, counts: readCounts(this.#counts) })
  }

  #start({ index, content_block: block }: Event<'content_block_start'>): void {
    if (!isObject(block)) return
    this.unheardBytes += sizeOfTexts(block)
    const fields = fieldsOf(block)
    const { caller, ...unknown } = unknownFields(fields, knownFields)
    // That the model itself calls is so without saying.
    const isDirect = fieldsOf(caller)['type'] === 'direct'
    const extra: Record<string, unknown> = { ...unknown, ...(caller !== undefined && !isDirect && { caller }) }
    switch (block.type) {
      case 'text': {
        const text = textIn(block.text)
        this.#drafts.set(index, { type: 'text', text, extra })
        if (text !== '') this.#onDelta({ type: 'text', text })
        break
      }
      case 'thinking': {
        const text = textIn(block.thinking)
        const signature = typeof fields['signature'] === 'string' ? fields['signature'] : undefined
        this.#drafts.set(index, { type: 'thinking', text, signature, extra })
        if (text !== '') this.#onDelta({ type: 'thinking', text })
        break
      }
      case 'redacted_thinking': {
        const { data, ...others } = extra
        this.#drafts.set(index, { type: 'redacted', data: textIn(data), extra: others })
        break
      }
      case 'tool_use': {
        const [id, name] = [textIn(block.id), textIn(block.name)]
        this.#drafts.set(index, { type: 'tool-call', id, name, raw: '', input: block.input, extra })
        this.#onDelta({ type: 'tool-call', id, name })
        if (!isEmpty(block.input)) this.#onDelta({ type: 'tool-arguments', id, text: writeJson(block.input) })
        break
      }
      default:
        // Not shown to listeners: it goes back unchanged.
        if (isServerBlock(textIn(fieldsOf(block)['type']))) {
          this.#drafts.set(index, { type: 'provider', data: { ...(block as object) }, raw: '' })
        }
    }
  }

  #grow({ index, delta: said }: Event<'content_block_delta'>): void {
    const draft = this.#drafts.get(index)
    const delta = fieldsOf(said)
    if (delta['type'] === 'text_delta' && draft?.type === 'text') {
      const text = textIn(delta['text'])
      draft.text += text
      this.#onDelta({ type: 'text', text })
    } else if (delta['type'] === 'thinking_delta' && draft?.type === 'thinking') {
      const text = textIn(delta['thinking'])
      draft.text += text
      this.#onDelta({ type: 'thinking', text })
    } else if (delta['type'] === 'signature_delta' && draft?.type === 'thinking') {
      draft.signature = (draft.signature ?? '') + textIn(delta['signature'])
      this.unheardBytes += sizeOfTexts(delta['signature'])
    } else if (delta['type'] === 'citations_delta' && draft?.type === 'text') {
      const { citations } = draft.extra
      draft.extra['citations'] = [...(Array.isArray(citations) ? (citations as unknown[]) : []), delta['citation']]
      this.unheardBytes += sizeOfTexts(delta['citation'])
    } else if (delta['type'] === 'input_json_delta' && draft?.type === 'tool-call') {
      const text = textIn(delta['partial_json'])
      draft.raw += text
      this.#onDelta({ type: 'tool-arguments', id: draft.id, text })
    } else if (delta['type'] === 'input_json_delta' && draft?.type === 'provider') {
      draft.raw += textIn(delta['partial_json'])
      this.unheardBytes += sizeOfTexts(delta['partial_json'])
    }
  }
}

/** Of the blocks that are known; what else a server sends goes back to it. */
const knownFields: ReadonlySet<string> = new Set(['type', 'text', 'thinking', 'signature', 'id', 'name', 'input'])

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
    case 'redacted':
      return {
        type: 'thinking',
        provider: ANTHROPIC,
        text: '',
        redacted: draft.data,
        ...extraOf(ANTHROPIC, draft.extra),
      }
    case 'provider': {
      const data = draft.raw === '' ? draft.data : { ...draft.data, input: readArguments(draft.raw).arguments }
      return { type: 'provider', provider: ANTHROPIC, data }
    }
    case 'tool-call': {
      // Without deltas the arguments are in the start of the block.
      const raw = draft.raw || (isEmpty(draft.input) ? '' : writeJson(draft.input))
      const extra = extraOf(ANTHROPIC, draft.extra)
      return { type: 'tool-call', id: draft.id, name: draft.name, ...readArguments(raw, isCut), ...extra }
    }
  }
}

/** Provider-run tool calls and their results. Other blocks need features that are not supported. */
function isServerBlock(type: string): boolean {
  return isServerCall(type) || type.endsWith('_tool_result') || type === 'container_upload'
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
