import type { FailureKind } from '../../protocol/failure.ts'
import type { AssistantMessage } from '../../protocol/message.ts'
import { readError, type SaidError } from '../error-body.ts'
import { failed, replied } from '../provider-failure.ts'
import type { ModelDelta, ModelOutcome } from '../port.ts'
import { sizeOfTexts } from '../reply-bound.ts'
import type { StreamReader } from '../streamed-call.ts'
import { readInclusiveCounts, type TokenCounts } from '../../rules/tokens/token-counts.ts'
import { fieldsOf, objectsIn, textIn } from '../wire-values.ts'
import { ChatCalls } from './chat-calls.ts'
import type { ThinkingField } from './chat-request.ts'
import type { ChatCompletionChunk } from './client.ts'

const fields: readonly [ThinkingField, ThinkingField] = ['reasoning_content', 'reasoning']

export class ChatReader implements StreamReader<ChatCompletionChunk> {
  readonly #provider: string
  readonly #model: string
  readonly #onDelta: (delta: ModelDelta) => void
  readonly #calls: ChatCalls
  #text = ''
  #thinking = ''
  #refusal = ''
  #finish: string | undefined
  #error: SaidError | undefined
  #usage: unknown
  unheardBytes = 0

  /** @param position of the answer in the conversation, for generated ids */
  constructor(provider: string, model: string, position: number, onDelta: (delta: ModelDelta) => void) {
    this.#provider = provider
    this.#model = `${provider}/${model}`
    this.#calls = new ChatCalls(position, onDelta)
    this.#onDelta = onDelta
  }

  take(chunk: ChatCompletionChunk): void {
    // The last chunk, with the usage, has an empty list of choices or none.
    const choices = objectsIn(chunk.choices).map(fieldsOf)
    // Only the first answer counts, in any position.
    const choice = choices.find(({ index }) => (index ?? 0) === 0)
    // Moonshot puts the usage in the choice.
    this.#usage = chunk.usage ?? choice?.['usage'] ?? this.#usage
    if (choice === undefined) return
    // Azure sends content filter results without a delta.
    const delta = fieldsOf(choice['delta'])
    const thinking = textIn(delta[fields[0]]) || textIn(delta[fields[1]])
    if (thinking !== '') {
      this.#thinking += thinking
      this.#onDelta({ type: 'thinking', text: thinking })
    }
    const text = textIn(delta['content'])
    if (text !== '') {
      this.#text += text
      this.#onDelta({ type: 'text', text })
    }
    this.#refusal += textIn(delta['refusal'])
    this.unheardBytes += sizeOfTexts(delta['refusal'])
    for (const call of objectsIn(delta['tool_calls'])) {
      this.#calls.take(call)
      // Arguments of a call without a name are held back.
      const { id, function: written } = fieldsOf(call)
      this.unheardBytes += sizeOfTexts([id, fieldsOf(written)['arguments']])
    }
    // Some servers send an empty reason before the last.
    this.#finish = textIn(choice['finish_reason']) || this.#finish
    const { error } = choice
    if (error !== undefined && error !== null) this.#error = readError(error)
  }

  outcome(): ModelOutcome | undefined {
    if (this.#finish === undefined) return undefined
    const ending = endings.get(this.#finish.toLowerCase()) ?? 'truncated'
    const refusal = ending === 'refused' ? 'the content filter stepped in' : this.#refusal
    if (refusal !== '') return failed({ kind: 'refused', message: `${this.#model} refused to answer: ${refusal}` })
    if (ending !== 'end' && ending !== 'max-tokens') return failed({ kind: ending, message: this.#endingText() })
    const isCut = ending === 'max-tokens'
    // Some servers send "stop" with calls too.
    return replied(this.#model, this.#content(isCut), { isCut, counts: countsOf(this.#usage) })
  }

  #endingText(): string {
    const reason = this.#error === undefined ? '' : `: ${this.#error.message}`
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

/** Meaning of a lower-case `finish_reason`, with other servers' words. Anything else truncates the answer. */
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

/** Moonshot puts cached tokens beside the other counts. */
function countsOf(usage: unknown): TokenCounts {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details, ...counts } = fieldsOf(usage)
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = fieldsOf(details)
  return readInclusiveCounts({ input, cacheRead: cacheRead ?? counts['cached_tokens'], cacheWrite, output })
}
