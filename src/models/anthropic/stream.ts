import type { AssistantMessage, ProviderBlock } from '../../../components/message.ts'
import type { TokenUsage } from '../../../components/usage.ts'
import { failed } from '../failed.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readArguments } from '../tool-arguments.ts'
import type { RawMessageStreamEvent, StopReason } from './client.ts'
import { ANTHROPIC, isServerCall } from './request.ts'

type Event<Type> = Extract<RawMessageStreamEvent, { type: Type }>
type Block = AssistantMessage['content'][number]

/** A content block while it arrives. */
type Draft =
  | { type: 'text'; text: string }
  | { type: 'thinking'; text: string; signature: string }
  | { type: 'redacted'; data: string }
  | { type: 'tool-call'; id: string; name: string; raw: string; input: unknown }
  | { type: 'provider'; data: ProviderBlock['data']; raw: string }

/** Reads the event stream of the Messages API. */
export class MessageReader implements StreamReader<RawMessageStreamEvent> {
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #drafts = new Map<number, Draft>()
  #usage: TokenUsage = {}
  #stop: StopReason | null = null
  #refusal: string | undefined
  #finished = false

  constructor(model: string, onDelta: (delta: ModelDelta) => void) {
    this.#model = model
    this.#onDelta = onDelta
  }

  take(event: RawMessageStreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#usage = usageOf(event.message.usage)
        break
      case 'content_block_start':
        this.#start(event)
        break
      case 'content_block_delta':
        this.#grow(event)
        break
      case 'message_delta':
        this.#stop = event.delta.stop_reason ?? this.#stop
        // Null on every answer but a refusal, and absent from servers of an older version of the API.
        this.#refusal = event.delta.stop_details?.explanation ?? event.delta.stop_details?.category ?? undefined
        this.#usage = { ...this.#usage, ...usageOf(event.usage) }
        break
      case 'message_stop':
        this.#finished = true
        break
      case 'content_block_stop':
    }
  }

  outcome(): ModelOutcome | undefined {
    if (!this.#finished) return undefined
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
        const message = `${this.#model} ended its answer with stop_reason "${String(this.#stop)}"`
        return failed({ kind: 'truncated', message })
      }
    }
  }

  #reply(isCut: boolean): ModelOutcome {
    const drafts = [...this.#drafts.values()]
    const content = drafts.map((draft, index) => blockOf(draft, isCut && index === drafts.length - 1))
    const called = content.some(({ type }) => type === 'tool-call')
    return {
      ok: true,
      value: {
        message: { role: 'assistant', content, model: this.#model },
        stop: isCut ? 'max-tokens' : called ? 'tool-calls' : 'end',
        usage: this.#usage,
      },
    }
  }

  #start({ index, content_block: block }: Event<'content_block_start'>): void {
    switch (block.type) {
      case 'text':
        this.#drafts.set(index, { type: 'text', text: block.text })
        break
      case 'thinking':
        this.#drafts.set(index, { type: 'thinking', text: block.thinking, signature: block.signature })
        break
      case 'redacted_thinking':
        this.#drafts.set(index, { type: 'redacted', data: block.data })
        break
      case 'tool_use':
        this.#drafts.set(index, { type: 'tool-call', id: block.id, name: block.name, raw: '', input: block.input })
        this.#onDelta({ type: 'tool-call', id: block.id, name: block.name })
        break
      default:
        // Nothing in it is a listener's business: it goes back as it came.
        if (isServerBlock(block.type)) this.#drafts.set(index, { type: 'provider', data: copied(block), raw: '' })
    }
  }

  #grow({ index, delta }: Event<'content_block_delta'>): void {
    const draft = this.#drafts.get(index)
    if (delta.type === 'text_delta' && draft?.type === 'text') {
      draft.text += delta.text
      this.#onDelta({ type: 'text', text: delta.text })
    } else if (delta.type === 'thinking_delta' && draft?.type === 'thinking') {
      draft.text += delta.thinking
      this.#onDelta({ type: 'thinking', text: delta.thinking })
    } else if (delta.type === 'signature_delta' && draft?.type === 'thinking') {
      draft.signature += delta.signature
    } else if (delta.type === 'input_json_delta' && draft?.type === 'tool-call') {
      draft.raw += delta.partial_json
      this.#onDelta({ type: 'tool-arguments', id: draft.id, text: delta.partial_json })
    } else if (delta.type === 'input_json_delta' && draft?.type === 'provider') {
      draft.raw += delta.partial_json
    }
  }
}

/** @param isCut the reply was cut at the token limit in this block */
function blockOf(draft: Draft, isCut: boolean): Block {
  switch (draft.type) {
    case 'text':
      return { type: 'text', text: draft.text }
    case 'thinking':
      return {
        type: 'thinking',
        provider: ANTHROPIC,
        text: draft.text,
        ...(draft.signature !== '' && { signature: draft.signature }),
      }
    case 'redacted':
      return { type: 'thinking', provider: ANTHROPIC, text: '', redacted: draft.data }
    case 'provider': {
      const data = draft.raw === '' ? draft.data : { ...draft.data, input: readArguments(draft.raw).arguments }
      return { type: 'provider', provider: ANTHROPIC, data }
    }
    case 'tool-call': {
      // Without deltas the arguments came whole, with the start of the block.
      const whole = isEmpty(draft.input) ? '' : JSON.stringify(draft.input)
      return { type: 'tool-call', id: draft.id, name: draft.name, ...readArguments(draft.raw || whole, isCut) }
    }
  }
}

/** Calls of tools that run at the provider, and what came of them. Other blocks ask for something that nobody here does. */
function isServerBlock(type: string): boolean {
  return isServerCall(type) || type.endsWith('_tool_result') || type === 'container_upload'
}

/** What was read from JSON is JSON. */
function copied(block: object): ProviderBlock['data'] {
  return JSON.parse(JSON.stringify(block)) as ProviderBlock['data']
}

function isEmpty(input: unknown): boolean {
  return typeof input !== 'object' || input === null || Object.keys(input).length === 0
}

interface WireUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  /** How the tokens written to the cache are split; not said again at the end of the stream. */
  readonly cache_creation?: { readonly ephemeral_1h_input_tokens?: number | null } | null
}

/** The API counts cached input apart, so nothing overlaps. Counts that are left out or null are unknown. */
function usageOf(usage: WireUsage | undefined): TokenUsage {
  const { input_tokens: input, output_tokens: output } = usage ?? {}
  const { cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite } = usage ?? {}
  const cacheWrite1h = usage?.cache_creation?.ephemeral_1h_input_tokens
  return {
    ...(typeof input === 'number' && { input }),
    ...(typeof cacheRead === 'number' && { cacheRead }),
    ...(typeof cacheWrite === 'number' && { cacheWrite }),
    ...(typeof cacheWrite1h === 'number' && { cacheWrite1h }),
    ...(typeof output === 'number' && { output }),
  }
}
