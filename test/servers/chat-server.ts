import type { TokenUsage } from '../../src/protocol/usage.ts'
import {
  halves,
  type Handler,
  isBlank,
  listOf,
  type LoopbackServer,
  type Protocol,
  sse,
  startLoopback,
} from './loopback.ts'
import { errorBody, httpError } from './openai-errors.ts'

/** Starts a server that speaks OpenAI's Chat Completions API, with the `reasoning_content` of compatible servers. */
export function startChatServer(handler: Handler): Promise<LoopbackServer> {
  return startLoopback(chat, handler)
}

const chat: Protocol = {
  basePath: '/v1',

  content({ thinking, text, toolCalls = [], refusal }) {
    const events = [chunk({ role: 'assistant', content: '' })]
    for (const half of halves(thinking?.text ?? '')) events.push(chunk({ reasoning_content: half }))
    for (const half of halves(text ?? '')) events.push(chunk({ content: half }))
    for (const half of halves(refusal ?? '')) events.push(chunk({ refusal: half }))
    for (const [index, { id, name, arguments: written }] of toolCalls.entries()) {
      events.push(chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
      for (const half of halves(written)) {
        events.push(chunk({ tool_calls: [{ index, function: { arguments: half } }] }))
      }
    }
    return events
  },

  end({ toolCalls = [], stopsAtLimit, usage }) {
    const reason = toolCalls.length > 0 ? 'tool_calls' : 'stop'
    const events = [chunk({}, stopsAtLimit === true ? 'length' : reason)]
    if (usage !== undefined) events.push(sse({ ...frame, choices: [], usage: usageOf(usage) }))
    return [...events, 'data: [DONE]\n\n']
  },

  streamError({ error }) {
    // As vLLM says it: without a name of its own, and with the status for a code.
    const tooLong = {
      message: "This model's maximum context length is 8192 tokens",
      type: 'BadRequestError',
      code: 400,
    }
    return sse({ error: error === 'context-overflow' ? tooLong : errorBody(error) })
  },

  refusalOf(body) {
    const messages = listOf(body['messages'])
    if (messages.length === 0) return "Invalid 'messages': empty array"
    for (const [index, { role, content, tool_calls: calls }] of messages.entries()) {
      if (role === 'assistant' && calls === undefined && isBlank(content)) {
        return `message at position ${index} with role 'assistant' must not be empty`
      }
      if (role === 'user' && (Array.isArray(content) ? content.length === 0 : isBlank(content))) {
        return `message at position ${index} with role 'user' must not be empty`
      }
      for (const call of listOf(calls)) {
        const { name } = call['function'] as { readonly name: string }
        if (!/^[a-zA-Z0-9_-]+$/.test(name)) return `Invalid 'messages[${index}].tool_calls[0].function.name'`
      }
    }
    return undefined
  },

  httpError,
}

const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'small' }

function chunk(delta: object, finish: string | null = null): string {
  return sse({ ...frame, choices: [{ index: 0, delta, finish_reason: finish }] })
}

function usageOf({ input = 0, cacheRead, cacheWrite, output = 0 }: TokenUsage) {
  const details = {
    ...(cacheRead !== undefined && { cached_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
  }
  return {
    prompt_tokens: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion_tokens: output,
    ...(Object.keys(details).length > 0 && { prompt_tokens_details: details }),
  }
}
