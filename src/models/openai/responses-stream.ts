import type { AssistantMessage, ProviderBlock, TextBlock } from '../../../components/message.ts'
import type { TokenUsage } from '../../../components/usage.ts'
import { failed } from '../failed.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { failureOf } from '../provider-failure.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readArguments } from '../tool-arguments.ts'
import type { Response, ResponseOutputItem, ResponseReasoningItem, ResponseStreamEvent } from './client.ts'

type Block = AssistantMessage['content'][number]

/** Reads the event stream of the Responses API. */
export class ResponseReader implements StreamReader<ResponseStreamEvent> {
  readonly #provider: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #content: Block[] = []
  /** The ids under which calls are answered, by the ids of their items. */
  readonly #callIds = new Map<string, string>()
  #newestCall: { readonly at: number; readonly raw: string } | undefined
  #refusal: string | undefined
  #final: Response | undefined
  /** What the last event says of the whole answer; its `status` may say otherwise. */
  #ending: 'completed' | 'incomplete' | 'failed' | undefined

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
        this.#end('completed', event.response)
        break
      case 'response.incomplete':
        this.#end('incomplete', event.response)
        break
      case 'response.failed':
        this.#end('failed', event.response)
        break
      default:
      // The other events say again, in parts, what the items say as a whole.
    }
  }

  outcome(): ModelOutcome | undefined {
    if (this.#final === undefined) return undefined
    const { error, incomplete_details: incomplete, usage } = this.#final
    const ending = this.#final.status ?? this.#ending
    if (error) return failed(failureOf(this.#provider, { message: error.message, names: namesOf(error) }))
    const refusal =
      this.#refusal ?? (incomplete?.reason === 'content_filter' ? 'its content filter stepped in' : undefined)
    if (refusal !== undefined) {
      return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    }
    if (ending === 'failed' || this.#ending === 'failed') {
      return failed({ kind: 'overloaded', message: `${this.#model} failed and gave no reason` })
    }
    const isIncomplete = incomplete || ending === 'incomplete' || this.#ending === 'incomplete'
    if (isIncomplete && incomplete?.reason !== 'max_output_tokens') {
      const reason = incomplete?.reason ?? 'no reason given'
      return failed({ kind: 'truncated', message: `${this.#model} left its answer incomplete: ${reason}` })
    }
    if (!isIncomplete && ending !== 'completed') {
      return failed({ kind: 'truncated', message: `${this.#model} ended its answer with status "${ending}"` })
    }
    if (isIncomplete) this.#markCut()
    const called = this.#content.some(({ type }) => type === 'tool-call')
    return {
      ok: true,
      value: {
        message: { role: 'assistant', content: this.#content, model: this.#model },
        stop: isIncomplete ? 'max-tokens' : called ? 'tool-calls' : 'end',
        usage: usageOf(usage),
      },
    }
  }

  /** Of a reply that was cut the newest call may have lost all its arguments. */
  #markCut(): void {
    const { at = -1, raw = '' } = this.#newestCall ?? {}
    const call = this.#content[at]
    if (call?.type === 'tool-call') this.#content[at] = { ...call, ...readArguments(raw, true) }
  }

  #end(ending: 'completed' | 'incomplete' | 'failed', response: Response): void {
    this.#ending = ending
    this.#final = response
  }

  #keep(item: ResponseOutputItem): void {
    if (hostedItems.has(item.type)) {
      const data = JSON.parse(JSON.stringify(item)) as ProviderBlock['data']
      this.#content.push({ type: 'provider', provider: this.#provider, data })
    } else if (item.type === 'reasoning') this.#content.push(...this.#thinking(item))
    else if (item.type === 'function_call') {
      const { call_id: id, name } = item
      this.#newestCall = { at: this.#content.length, raw: item.arguments }
      this.#content.push({
        type: 'tool-call',
        id,
        name,
        ...readArguments(item.arguments),
      })
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

/** Items of tools that run at the provider. Others that this reader does not know ask for something that nobody here does. */
const hostedItems: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
])

/** A name that a later version of the API may add would not fit into a conversation, and is dropped. */
function isPhase(phase: string | null | undefined): phase is NonNullable<TextBlock['phase']> {
  return phase === 'commentary' || phase === 'final_answer'
}

function namesOf({ code, type }: NonNullable<Response['error']>): string[] {
  return [code, type].filter((name) => typeof name === 'string')
}

/**
 * Input that was read from the cache or written to it is counted within the input, and is taken out of it here. Servers
 * that only speak the same protocol leave counts out, or null.
 */
function usageOf(usage: WireUsage | undefined | null): TokenUsage {
  const { input_tokens: input, output_tokens: output, input_tokens_details: details } = usage ?? {}
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = details ?? {}
  return {
    ...(typeof input === 'number' && { input: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)) }),
    ...(typeof cacheRead === 'number' && { cacheRead }),
    ...(typeof cacheWrite === 'number' && { cacheWrite }),
    ...(typeof output === 'number' && { output }),
  }
}

interface WireUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null
    readonly cache_write_tokens?: number | null
  } | null
}
