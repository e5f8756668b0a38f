import type { AssistantMessage } from '../../../components/message.ts'
import type { TokenUsage } from '../../../components/usage.ts'
import { failed } from '../failed.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readArguments } from '../tool-arguments.ts'
import type { ThinkingField } from './chat-request.ts'
import type { ChatCompletionChunk, CompletionUsage } from './client.ts'

type Choice = ChatCompletionChunk['choices'][number] & { readonly usage?: ChatUsage }
type Delta = Choice['delta'] & { readonly [field in ThinkingField]?: string | null }
type CallDelta = NonNullable<Choice['delta']['tool_calls']>[number]

interface Call {
  readonly id: string
  readonly name: string
  raw: string
}

/** Reads the event stream of the Chat Completions API. */
export class ChatReader implements StreamReader<ChatCompletionChunk> {
  readonly #provider: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  /** For calls that a server gives no id: what makes theirs unique in the conversation. */
  readonly #position: number
  readonly #calls = new Map<number, Call>()
  #text = ''
  #thinking = ''
  #refusal = ''
  #finish: Choice['finish_reason'] = null
  #usage: TokenUsage = {}

  constructor(provider: string, model: string, position: number, onDelta: (delta: ModelDelta) => void) {
    this.#provider = provider
    this.#model = `${provider}/${model}`
    this.#position = position
    this.#onDelta = onDelta
  }

  take(chunk: ChatCompletionChunk): void {
    // The last chunk, with the usage, has no choice; some servers leave the list out altogether.
    const choice: Choice | undefined = chunk.choices?.[0]
    // Moonshot gives the usage within the choice.
    const usage = chunk.usage ?? choice?.usage
    if (usage) this.#usage = usageOf(usage)
    if (choice === undefined) return
    const delta: Delta = choice.delta
    const thinking = delta.reasoning_content ?? delta.reasoning ?? ''
    if (thinking !== '') {
      this.#thinking += thinking
      this.#onDelta({ type: 'thinking', text: thinking })
    }
    const text = delta.content ?? ''
    if (text !== '') {
      this.#text += text
      this.#onDelta({ type: 'text', text })
    }
    this.#refusal += delta.refusal ?? ''
    for (const call of delta.tool_calls ?? []) this.#grow(call)
    this.#finish = choice.finish_reason ?? this.#finish
  }

  outcome(): ModelOutcome | undefined {
    if (this.#finish === null) return undefined
    const refusal = this.#finish === 'content_filter' ? 'the content filter stepped in' : this.#refusal
    if (refusal !== '') return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    const content = this.#content()
    const called = content.some(({ type }) => type === 'tool-call')
    return {
      ok: true,
      value: {
        message: { role: 'assistant', content, model: this.#model },
        // Some servers say "stop" with calls, too.
        stop: this.#finish === 'length' ? 'max-tokens' : called ? 'tool-calls' : 'end',
        usage: this.#usage,
      },
    }
  }

  #content(): AssistantMessage['content'] {
    const content: AssistantMessage['content'][number][] = []
    if (this.#thinking !== '') content.push({ type: 'thinking', provider: this.#provider, text: this.#thinking })
    if (this.#text !== '') content.push({ type: 'text', text: this.#text })
    for (const { id, name, raw } of this.#calls.values()) {
      content.push({ type: 'tool-call', id, name, ...readArguments(raw) })
    }
    return content
  }

  #grow({ index, id, function: written }: CallDelta): void {
    const text = written?.arguments ?? ''
    let call = this.#calls.get(index)
    if (call === undefined) {
      call = { id: id || `call-${this.#position}-${index}`, name: written?.name ?? '', raw: '' }
      this.#calls.set(index, call)
      this.#onDelta({ type: 'tool-call', id: call.id, name: call.name })
    }
    if (text === '') return
    call.raw += text
    this.#onDelta({ type: 'tool-arguments', id: call.id, text })
  }
}

/** Servers leave counts out; Moonshot gives the cached part of the input beside the others, not among the details. */
type ChatUsage = Partial<CompletionUsage> & { readonly cached_tokens?: number }

/** Input that was read from the cache or written to it is counted within the input, and is taken out of it here. */
function usageOf(usage: ChatUsage): TokenUsage {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = usage
  const cacheRead = details?.cached_tokens ?? usage.cached_tokens
  const cacheWrite = details?.cache_write_tokens
  return {
    ...(input !== undefined && { input: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)) }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(output !== undefined && { output }),
  }
}
