import type { FailureKind } from '../../../components/failure.ts'
import type { AssistantMessage } from '../../../components/message.ts'
import type { TokenUsage } from '../../../components/usage.ts'
import { failed } from '../failed.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import type { StreamReader } from '../streamed-call.ts'
import { type CallDelta, ChatCalls } from './chat-calls.ts'
import type { ThinkingField } from './chat-request.ts'
import type { ChatCompletionChunk } from './client.ts'

/** A choice as servers send it: some leave out what the protocol asks for, and some say more. */
interface Choice {
  readonly index?: number | null
  readonly delta?: Delta | null
  readonly error?: { readonly message?: unknown } | null
  readonly finish_reason?: string | null
  readonly usage?: ChatUsage | null
}
type Delta = { readonly [field in 'content' | 'refusal' | ThinkingField]?: string | null } & {
  readonly tool_calls?: readonly CallDelta[] | null
}

/** Reads the event stream of the Chat Completions API. */
export class ChatReader implements StreamReader<ChatCompletionChunk> {
  readonly #provider: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #calls: ChatCalls
  #text = ''
  #thinking = ''
  #refusal = ''
  #finish: string | undefined
  #error: string | undefined
  #usage: TokenUsage = {}

  /** @param position of the answer in the conversation: it makes ids unique there that a server does not give */
  constructor(provider: string, model: string, position: number, onDelta: (delta: ModelDelta) => void) {
    this.#provider = provider
    this.#model = `${provider}/${model}`
    this.#calls = new ChatCalls(position, onDelta)
    this.#onDelta = onDelta
  }

  take(chunk: ChatCompletionChunk): void {
    // The last chunk, with the usage, has no choice; some servers leave the list out altogether.
    const choices: readonly Choice[] = chunk.choices ?? []
    // Of several answers the first is meant, wherever it stands.
    const choice = choices.find(({ index }) => (index ?? 0) === 0)
    // Moonshot gives the usage within the choice.
    const usage = chunk.usage ?? choice?.usage
    if (usage) this.#usage = usageOf(usage)
    if (choice === undefined) return
    // Azure sends what its content filter has found in a chunk without a delta.
    const delta = choice.delta ?? {}
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
    for (const call of delta.tool_calls ?? []) this.#calls.take(call)
    // Some servers send an empty reason until there is one.
    this.#finish = choice.finish_reason || this.#finish
    if (typeof choice.error?.message === 'string') this.#error = choice.error.message
  }

  outcome(): ModelOutcome | undefined {
    if (this.#finish === undefined) return undefined
    const ending = endings.get(this.#finish.toLowerCase()) ?? 'truncated'
    const refusal = ending === 'refused' ? 'the content filter stepped in' : this.#refusal
    if (refusal !== '') return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    if (ending !== 'end' && ending !== 'max-tokens') return failed({ kind: ending, message: this.#endingText() })
    const content = this.#content(ending === 'max-tokens')
    const called = content.some(({ type }) => type === 'tool-call')
    return {
      ok: true,
      value: {
        message: { role: 'assistant', content, model: this.#model },
        // Some servers say "stop" with calls, too.
        stop: ending === 'max-tokens' ? ending : called ? 'tool-calls' : 'end',
        usage: this.#usage,
      },
    }
  }

  #endingText(): string {
    const reason = this.#error === undefined ? '' : `: ${this.#error}`
    return `${this.#model} ended its answer with finish_reason "${this.#finish ?? ''}"${reason}`
  }

  #content(isCut: boolean): AssistantMessage['content'] {
    const content: AssistantMessage['content'][number][] = []
    if (this.#thinking !== '') content.push({ type: 'thinking', provider: this.#provider, text: this.#thinking })
    if (this.#text !== '') content.push({ type: 'text', text: this.#text })
    content.push(...this.#calls.blocks(isCut))
    return content
  }
}

/** What a `finish_reason` in small letters means, other servers' words for it included. Any other breaks the answer off. */
const endings: ReadonlyMap<string, 'end' | 'max-tokens' | FailureKind> = new Map([
  ['stop', 'end'],
  ['tool_calls', 'end'],
  ['function_call', 'end'],
  ['eos', 'end'],
  ['eos_token', 'end'],
  ['stop_sequence', 'end'],
  ['end_turn', 'end'],
  ['tool_use', 'end'],
  ['length', 'max-tokens'],
  ['max_tokens', 'max-tokens'],
  ['content_filter', 'refused'],
  ['safety', 'refused'],
  ['error', 'overloaded'],
  ['insufficient_system_resource', 'overloaded'],
  ['model_length', 'context-overflow'],
])

/** Servers leave counts out; Moonshot gives the cached part of the input beside the others, not among the details. */
interface ChatUsage {
  readonly prompt_tokens?: number | null
  readonly completion_tokens?: number | null
  readonly cached_tokens?: number | null
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null
    readonly cache_write_tokens?: number | null
  } | null
}

/**
 * Input that was read from the cache or written to it is counted within the input, and is taken out of it here. Counts that
 * are left out or null are unknown.
 */
function usageOf(usage: ChatUsage): TokenUsage {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = usage
  const cacheRead = details?.cached_tokens ?? usage.cached_tokens
  const cacheWrite = details?.cache_write_tokens
  return {
    ...(typeof input === 'number' && { input: Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)) }),
    ...(typeof cacheRead === 'number' && { cacheRead }),
    ...(typeof cacheWrite === 'number' && { cacheWrite }),
    ...(typeof output === 'number' && { output }),
  }
}
