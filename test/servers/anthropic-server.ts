import type { TokenUsage } from '../../src/protocol/usage.ts'
import {
  halves,
  type Handler,
  type HttpError,
  isBlank,
  type JsonBody,
  listOf,
  type LoopbackServer,
  type Protocol,
  sse,
  startLoopback,
} from './loopback.ts'

/** Starts a server that speaks Anthropic's Messages API. */
export function startAnthropicServer(handler: Handler): Promise<LoopbackServer> {
  return startLoopback(messages, handler)
}

const errors: Readonly<Record<HttpError['failure'], readonly [status: number, type: string, message: string]>> = {
  unauthorized: [401, 'authentication_error', 'invalid x-api-key'],
  'invalid-request': [400, 'invalid_request_error', 'messages.0.content: Field required'],
  'context-overflow': [400, 'invalid_request_error', 'prompt is too long: 204857 tokens > 200000 maximum'],
  'too-large': [413, 'request_too_large', 'Request exceeds the maximum size'],
  'rate-limited': [429, 'rate_limit_error', 'This request would exceed your rate limit of 50 requests per minute'],
  'quota-spent': [402, 'billing_error', 'Your credit balance is too low'],
  overloaded: [529, 'overloaded_error', 'Overloaded'],
  'bad-gateway': [502, 'api_error', 'Bad gateway'],
}

const messages: Protocol = {
  basePath: '',

  content({ thinking, text, toolCalls = [], refusal, usage }, { body }) {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: body['model'],
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: usage === undefined ? {} : inputOf(usage),
    }
    const events = [event({ type: 'message_start', message }), event({ type: 'ping' })]
    let index = 0
    const block = (start: object, deltas: readonly object[]): void => {
      events.push(event({ type: 'content_block_start', index, content_block: start }))
      for (const delta of deltas) events.push(event({ type: 'content_block_delta', index, delta }))
      events.push(event({ type: 'content_block_stop', index }))
      index++
    }
    if (thinking?.text === '') block({ type: 'redacted_thinking', data: thinking.seal }, [])
    else if (thinking !== undefined) {
      const deltas: object[] = halves(thinking.text).map((half) => ({ type: 'thinking_delta', thinking: half }))
      if (thinking.seal !== undefined) deltas.push({ type: 'signature_delta', signature: thinking.seal })
      block({ type: 'thinking', thinking: '', signature: '' }, deltas)
    }
    const said = text ?? refusal
    if (said !== undefined) {
      const deltas = halves(said).map((half) => ({ type: 'text_delta', text: half }))
      block({ type: 'text', text: '', citations: null }, deltas)
    }
    for (const { id, name, arguments: written } of toolCalls) {
      const deltas = ['', ...halves(written)].map((half) => ({ type: 'input_json_delta', partial_json: half }))
      block({ type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } }, deltas)
    }
    return events
  },

  end({ toolCalls = [], refusal, stopsAtLimit, usage }) {
    const reason = toolCalls.length > 0 ? 'tool_use' : 'end_turn'
    const delta = {
      stop_reason: refusal !== undefined ? 'refusal' : stopsAtLimit ? 'max_tokens' : reason,
      stop_sequence: null,
      stop_details: refusal === undefined ? null : { type: 'refusal', category: 'cyber', explanation: refusal },
    }
    const said = usage?.output === undefined ? {} : { output_tokens: usage.output }
    return [event({ type: 'message_delta', delta, usage: said }), event({ type: 'message_stop' })]
  },

  streamError({ error }) {
    const [, type, message] = errors[error]
    return event({ type: 'error', error: { type, message } })
  },

  refusalOf(body) {
    const messages = listOf(body['messages'])
    if (messages.length === 0) return 'messages: at least one message is required'
    if (listOf(body['system']).some(({ text }) => isBlank(text))) return 'system: text content blocks must be non-empty'
    const { thinking, max_tokens: maxTokens } = body as { thinking?: { budget_tokens?: number }; max_tokens: number }
    const budget = thinking?.budget_tokens
    if (budget !== undefined && budget < 1_024) {
      return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
    }
    if (budget !== undefined && budget >= maxTokens) {
      return '`max_tokens` must be greater than `thinking.budget_tokens`.'
    }
    if (messages.at(-1)?.['role'] === 'assistant' && thinking !== undefined) {
      return 'This model does not support assistant message prefill. The conversation must end with a user message.'
    }
    for (const [index, message] of messages.entries()) {
      const { content } = message
      // A text stands for one block of it.
      const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
      const problem = refusalOfMessage(message, blocks)
      if (problem !== undefined) return `messages.${index}: ${problem}`
    }
    return undefined
  },

  httpError({ failure, message }) {
    const [status, type, standard] = errors[failure]
    return { status, body: { type: 'error', error: { type, message: message ?? standard }, request_id: 'req_1' } }
  },
}

function refusalOfMessage(message: JsonBody, content: readonly JsonBody[]): string | undefined {
  if (content.length === 0) return 'all messages must have non-empty content'
  if (message['role'] === 'assistant' && String(content.at(-1)?.['type']).endsWith('thinking')) {
    return 'The final block in an assistant message cannot be `thinking`.'
  }
  if (content.some((block) => block['is_error'] === true && listOf(block['content']).length === 0)) {
    return 'tool_result: content cannot be empty if `is_error` is true'
  }
  const results = new Set(content.map((block) => block['tool_use_id']))
  for (const block of content) {
    if (block['type'] === 'text' && isBlank(block['text']))
      return 'text content blocks must contain non-whitespace text'
    if (block['type'] === 'thinking' && isBlank(block['signature'])) return 'Invalid `signature` in `thinking` block'
    if (block['type'] === 'tool_use') {
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(block['name']))) return 'tool_use.name: String should match pattern'
      if (!/^[a-zA-Z0-9_-]+$/.test(String(block['id']))) return 'tool_use.id: String should match pattern'
    }
    if (block['type'] === 'server_tool_use' && !results.has(block['id'])) {
      return `\`${String(block['name'])}\` tool use with id \`${String(block['id'])}\` was found without a corresponding result`
    }
  }
  return undefined
}

function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return sse(data, data.type)
}

function inputOf({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenUsage) {
  return {
    input_tokens: input,
    cache_read_input_tokens: cacheRead ?? null,
    cache_creation_input_tokens: cacheWrite ?? null,
    cache_creation: cacheWrite1h === undefined ? null : { ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: 1,
  }
}
