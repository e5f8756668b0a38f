import type { AssistantMessage, TextBlock } from '../../../components/message.ts'
import type { TokenUsage } from '../../../components/usage.ts'
import { failed } from '../failed.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { failureOf } from '../provider-failure.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readArguments } from '../tool-arguments.ts'
import type {
  Response,
  ResponseOutputItem,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from './client.ts'

type Block = AssistantMessage['content'][number]

/** Reads the event stream of the Responses API. */
export class ResponseReader implements StreamReader<ResponseStreamEvent> {
  readonly #provider: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #content: Block[] = []
  /** The ids under which calls are answered, by the ids of their items. */
  readonly #callIds = new Map<string, string>()
  #refusal: string | undefined
  #final: Response | undefined

  constructor(provider: string, model: string, onDelta: (delta: ModelDelta) => void) {
    this.#provider = provider
    this.#model = `${provider}/${model}`
    this.#onDelta = onDelta
  }

  take(event: ResponseStreamEvent): void {
    switch (event.type) {
      case 'response.output_text.delta':
        this.#onDelta({ type: 'text', text: event.delta })
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#onDelta({ type: 'thinking', text: event.delta })
        break
      case 'response.function_call_arguments.delta':
        this.#onDelta({ type: 'tool-arguments', id: this.#callIds.get(event.item_id) ?? '', text: event.delta })
        break
      case 'response.output_item.added':
        if (event.item.type !== 'function_call') break
        this.#callIds.set(event.item.id ?? '', event.item.call_id)
        this.#onDelta({ type: 'tool-call', id: event.item.call_id, name: event.item.name })
        break
      case 'response.output_item.done':
        this.#keep(event.item)
        break
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        this.#final = event.response
        break
      default:
      // The other events say again, in parts, what the items say as a whole.
    }
  }

  outcome(): ModelOutcome | undefined {
    if (this.#final === undefined) return undefined
    const { error, incomplete_details: incomplete, usage } = this.#final
    if (error) return failed(failureOf(this.#provider, { message: error.message, names: namesOf(error) }))
    const refusal =
      this.#refusal ?? (incomplete?.reason === 'content_filter' ? 'its content filter stepped in' : undefined)
    if (refusal !== undefined) {
      return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    }
    if (incomplete && incomplete.reason !== 'max_output_tokens') {
      const reason = incomplete.reason ?? 'no reason given'
      return failed({ kind: 'truncated', message: `${this.#model} left its answer incomplete: ${reason}` })
    }
    const called = this.#content.some(({ type }) => type === 'tool-call')
    return {
      ok: true,
      value: {
        message: { role: 'assistant', content: this.#content, model: this.#model },
        stop: incomplete ? 'max-tokens' : called ? 'tool-calls' : 'end',
        usage: usageOf(usage),
      },
    }
  }

  #keep(item: ResponseOutputItem): void {
    if (item.type === 'reasoning') this.#content.push(...this.#thinking(item))
    else if (item.type === 'function_call') {
      const { call_id: id, name } = item
      this.#content.push({ type: 'tool-call', id, name, ...readArguments(item.arguments) })
    } else if (item.type === 'message') {
      const { phase } = item
      for (const part of item.content) {
        if (part.type === 'refusal') this.#refusal = part.refusal
        else this.#content.push({ type: 'text', text: part.text, ...(isPhase(phase) && { phase }) })
      }
    }
  }

  /** One block for each part of the summary, so that the item can go back just as it came. */
  #thinking({ id, summary, content = [], encrypted_content: encrypted }: ResponseReasoningItem): Block[] {
    const parts = summary.length > 0 ? summary : content
    const texts = parts.length > 0 ? parts.map(({ text }) => text) : ['']
    const redacted = encrypted ? { redacted: encrypted } : {}
    return texts.map((text, index) => ({
      type: 'thinking',
      provider: this.#provider,
      id,
      text,
      ...(index === 0 && redacted),
    }))
  }
}

/** A name that a later version of the API may add would not fit into a conversation, and is dropped. */
function isPhase(phase: string | null | undefined): phase is NonNullable<TextBlock['phase']> {
  return phase === 'commentary' || phase === 'final_answer'
}

function namesOf({ code, type }: NonNullable<Response['error']>): string[] {
  return [code, type].filter((name) => typeof name === 'string')
}

/**
 * Input that was read from the cache or written to it is counted within the input, and is taken out of it here. Servers
 * that only speak the same protocol leave counts out.
 */
function usageOf(usage: Partial<ResponseUsage> | undefined | null): TokenUsage {
  const { input_tokens: input, output_tokens: output } = usage ?? {}
  const details: Partial<ResponseUsage['input_tokens_details']> = usage?.input_tokens_details ?? {}
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = details
  return {
    ...(input !== undefined && { input: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(output !== undefined && { output }),
  }
}
