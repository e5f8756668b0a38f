import {
  LogView,
  type Message,
  type ModelContext,
  type ModelDelta,
  type ModelOutcome,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
  type ToolMessage,
} from 'entia'

/** A request with everything in it that the test does not care for. */
export function requestOf(
  messages: readonly Message[] = [userSays('Hello')],
  over: Partial<Omit<ModelRequest, 'messages'>> = {},
): ModelRequest {
  return { model: 'small', system: '', tools: [], tail: [], options: {}, ...over, messages: LogView.of(messages) }
}

export function userSays(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

export function worldSays(text: string): Message {
  return { role: 'system', content: [{ type: 'text', text }] }
}

export function resultOf(callId: string, text: string): ToolMessage {
  return { role: 'tool', callId, name: 'add', content: [{ type: 'text', text }] }
}

export interface Call {
  readonly outcome: ModelOutcome
  readonly deltas: readonly ModelDelta[]
}

/** Calls a provider as a Runner would, on a clock that waits for nothing. */
export async function call(
  provider: ModelProvider,
  request: ModelRequest = requestOf(),
  over: Partial<ModelContext> = {},
): Promise<Call> {
  const deltas: ModelDelta[] = []
  const outcome = await provider.call(request, {
    key: 'world/1',
    signal: new AbortController().signal,
    attempt: 1,
    onDelta: (delta) => deltas.push(delta),
    sleep: () => Promise.resolve(),
    ...over,
  })
  return { outcome, deltas }
}

/** The reply of a call that has to succeed. */
export async function replyOf(provider: ModelProvider, request?: ModelRequest): Promise<ModelReply> {
  const { outcome } = await call(provider, request)
  if (!outcome.ok) throw new Error(`The call failed: ${outcome.failure.kind}: ${outcome.failure.message}`)
  return outcome.value
}

/** The failure of a call that has to fail. */
export async function failureOf(provider: ModelProvider, request?: ModelRequest) {
  const { outcome } = await call(provider, request)
  if (outcome.ok) throw new Error(`The call succeeded: ${JSON.stringify(outcome.value.message)}`)
  return outcome.failure
}

/** All deltas of one type, put together. */
export function joined(deltas: readonly ModelDelta[], type: 'text' | 'thinking' | 'tool-arguments'): string {
  return deltas.map((delta) => (delta.type === type ? delta.text : '')).join('')
}
