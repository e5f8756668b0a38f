import type { AssistantMessage, ProviderBlock, TextBlock } from '../../protocol/message.ts'
import { readError } from '../error-body.ts'
import { failed, failureOf, replied } from '../provider-failure.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { sizeOfTexts } from '../reply-bound.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readInclusiveCounts, type TokenCounts } from '../../rules/tokens/token-counts.ts'
import { readArguments } from '../../rules/projection/tool-calls.ts'
import { fieldsOf, isObject, objectsIn, textIn, writeJson } from '../wire-values.ts'
import type { ResponseStreamEvent } from './client.ts'

type Block = AssistantMessage['content'][number]

export class ResponseReader implements StreamReader<ResponseStreamEvent> {
  readonly #provider: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #content: Block[] = []
  /** Call ids by item id. */
  readonly #callIds = new Map<string, string>()
  #newestCall: { readonly at: number; readonly raw: string } | undefined
  #refusal: string | undefined
  #final: Readonly<Record<string, unknown>> | undefined
  unheardBytes = 0
  /** From the type of the last event; its `status` may differ. */
  #ending: 'completed' | 'incomplete' | 'failed' | undefined

  constructor(provider: string, model: string, onDelta: (delta: ModelDelta) => void) {
    this.#provider = provider
    this.#model = `${provider}/${model}`
    this.#onDelta = onDelta
  }

  take(event: ResponseStreamEvent): void {
    switch (event.type) {
      case 'response.output_text.delta':
        this.#onDelta({ type: 'text', text: textIn(event.delta) })
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#onDelta({ type: 'thinking', text: textIn(event.delta) })
        break
      case 'response.function_call_arguments.delta': {
        const id = this.#callIds.get(event.item_id) ?? ''
        this.#onDelta({ type: 'tool-arguments', id, text: textIn(event.delta) })
        break
      }
      case 'response.output_item.added': {
        const item = fieldsOf(event.item)
        if (item['type'] !== 'function_call') break
        const id = textIn(item['call_id'])
        this.#callIds.set(textIn(item['id']), id)
        this.unheardBytes += sizeOfTexts(item)
        this.#onDelta({ type: 'tool-call', id, name: textIn(item['name']) })
        break
      }
      case 'response.output_item.done':
        this.#keep(fieldsOf(event.item))
        this.unheardBytes += sizeOfTexts(event.item)
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
      // Other events repeat parts of the items.
    }
  }

  outcome(): ModelOutcome | undefined {
    if (this.#final === undefined) return undefined
    const { error, incomplete_details: details, status, usage } = this.#final
    const ending = status ?? this.#ending
    if (error) return failed(failureOf(this.#provider, readError(error)))
    const incomplete = isObject(details) ? fieldsOf(details) : undefined
    const refusal =
      this.#refusal ?? (incomplete?.['reason'] === 'content_filter' ? 'its content filter stepped in' : undefined)
    if (refusal !== undefined) {
      return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    }
    if (ending === 'failed' || this.#ending === 'failed') {
      return failed({ kind: 'overloaded', message: `${this.#model} failed and gave no reason` })
    }
    const isIncomplete = incomplete || ending === 'incomplete' || this.#ending === 'incomplete'
    if (isIncomplete && incomplete?.['reason'] !== 'max_output_tokens') {
      const reason = textIn(incomplete?.['reason']) || 'no reason given'
      return failed({ kind: 'truncated', message: `${this.#model} left its answer incomplete: ${reason}` })
    }
    if (!isIncomplete && ending !== 'completed') {
      return failed({ kind: 'truncated', message: `${this.#model} ended its answer with status ${writeJson(ending)}` })
    }
    if (isIncomplete) this.#markCut()
    return replied(this.#model, this.#content, { isCut: Boolean(isIncomplete), counts: countsOf(usage) })
  }

  /** The newest call of a cut reply may have lost all its arguments. */
  #markCut(): void {
    const { at = -1, raw = '' } = this.#newestCall ?? {}
    const call = this.#content[at]
    if (call?.type === 'tool-call') this.#content[at] = { ...call, ...readArguments(raw, true) }
  }

  #end(ending: 'completed' | 'incomplete' | 'failed', response: unknown): void {
    this.#ending = ending
    this.#final = fieldsOf(response)
  }

  #keep(item: Readonly<Record<string, unknown>>): void {
    const { type } = item
    if (hostedItems.has(type)) {
      this.#content.push({ type: 'provider', provider: this.#provider, data: item as ProviderBlock['data'] })
    } else if (type === 'reasoning') this.#content.push(...this.#thinking(item))
    else if (type === 'function_call') {
      const { call_id: id, name, arguments: written } = item
      const raw = typeof written === 'object' && written !== null ? writeJson(written) : textIn(written)
      this.#newestCall = { at: this.#content.length, raw }
      this.#content.push({ type: 'tool-call', id: textIn(id), name: textIn(name), ...readArguments(raw) })
    } else if (type === 'message') {
      const { phase, content } = item
      for (const part of objectsIn(content).map(fieldsOf)) {
        if (part['type'] === 'refusal') this.#refusal = textIn(part['refusal'])
        else this.#content.push({ type: 'text', text: textIn(part['text']), ...(isPhase(phase) && { phase }) })
      }
    }
  }

  /** One block per part of the summary, so that the item can go back unchanged. */
  #thinking({ id, summary, content, encrypted_content: encrypted }: Readonly<Record<string, unknown>>): Block[] {
    const summaries = objectsIn(summary)
    const parts = summaries.length > 0 ? summaries : objectsIn(content)
    const texts = parts.length > 0 ? parts.map((part) => textIn(fieldsOf(part)['text'])) : ['']
    const redacted = textIn(encrypted) === '' ? {} : { redacted: textIn(encrypted) }
    return texts.map((text, index) => ({
      type: 'thinking',
      provider: this.#provider,
      ...(typeof id === 'string' && { id }),
      text,
      ...(index === 0 && redacted),
    }))
  }
}

/** Items of provider-run tools. Unknown ones need features that are not supported. */
const hostedItems: ReadonlySet<unknown> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
])

/** Drops phases of later API versions: messages cannot hold them. */
function isPhase(phase: unknown): phase is NonNullable<TextBlock['phase']> {
  return phase === 'commentary' || phase === 'final_answer'
}

/** Compatible servers omit counts or send null. */
function countsOf(usage: unknown): TokenCounts {
  const { input_tokens: input, output_tokens: output, input_tokens_details: details } = fieldsOf(usage)
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = fieldsOf(details)
  return readInclusiveCounts({ input, cacheRead, cacheWrite, output })
}
