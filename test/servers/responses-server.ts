import type { TokenUsage } from '../../src/protocol/usage.ts'
import {
  halves,
  type Handler,
  listOf,
  type LoopbackServer,
  type Protocol,
  type Reply,
  sse,
  startLoopback,
} from './loopback.ts'
import { errorBody, httpError } from './openai-errors.ts'

/** Starts a server that speaks OpenAI's Responses API. */
export function startResponsesServer(handler: Handler): Promise<LoopbackServer> {
  return startLoopback(responses, handler)
}

const responses: Protocol = {
  basePath: '/v1',

  content(reply) {
    const created = { type: 'response.created', response: { id: 'resp_1', object: 'response', status: 'in_progress' } }
    const events: Event[] = [created]
    for (const [index, item] of itemsOf(reply).entries()) events.push(...streamed(item, index))
    return events.map((event, index) => sse({ ...event, sequence_number: index }, event.type))
  },

  end(reply) {
    const failed = reply.stopsAtLimit === true
    const response = {
      id: 'resp_1',
      object: 'response',
      status: failed ? 'incomplete' : 'completed',
      error: null,
      incomplete_details: failed ? { reason: 'max_output_tokens' } : null,
      output: itemsOf(reply),
      ...(reply.usage !== undefined && { usage: usageOf(reply.usage) }),
    }
    const type = failed ? 'response.incomplete' : 'response.completed'
    return [sse({ type, response, sequence_number: 99 }, type)]
  },

  streamError({ error }) {
    // In the stream a limit comes as an error event, anything else as a failed response.
    const { message, code } = errorBody(error)
    if (error === 'rate-limited') {
      return sse({ type: 'error', code, message, param: null, sequence_number: 99 }, 'error')
    }
    const failure = { code: code ?? 'server_error', message }
    const response = { id: 'resp_1', object: 'response', status: 'failed', error: failure }
    return sse({ type: 'response.failed', response, sequence_number: 99 }, 'response.failed')
  },

  refusalOf(body) {
    const input = listOf(body['input'])
    if (input.length === 0) return "Invalid 'input': empty array"
    for (const [index, item] of input.entries()) {
      const next = input[index + 1]
      const follows = next?.['role'] === 'assistant' || /^(reasoning|.*_call)$/.test(String(next?.['type']))
      if (item['type'] === 'reasoning' && !follows) {
        return `Item '${String(item['id'])}' of type 'reasoning' was provided without its required following item.`
      }
      const said = listOf(item['content']).some(({ text }) => text !== '')
      if (item['type'] === 'reasoning' && item['encrypted_content'] === undefined && !said) {
        return `Item with id '${String(item['id'])}' not found. Items are not persisted when \`store\` is set to false.`
      }
      if (item['role'] === 'user' && listOf(item['content']).length === 0) {
        return `Invalid 'input[${index}].content': empty array`
      }
      if (item['type'] === 'function_call' && !/^[a-zA-Z0-9_-]+$/.test(String(item['name']))) {
        return `Invalid 'input[${index}].name': string does not match pattern`
      }
    }
    return undefined
  },

  httpError,
}

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

type Item = ReturnType<typeof itemsOf>[number]

function itemsOf({ thinking, text, toolCalls = [], refusal }: Reply) {
  const message = (part: object) => ({
    type: 'message' as const,
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    phase: toolCalls.length > 0 ? 'commentary' : 'final_answer',
    content: [part],
  })
  const reasoning = ({ text, seal }: NonNullable<Reply['thinking']>) => ({
    type: 'reasoning' as const,
    id: 'rs_1',
    summary: text === '' ? [] : text.split('\n\n').map((part) => ({ type: 'summary_text', text: part })),
    ...(seal !== undefined && { encrypted_content: seal }),
  })
  return [
    ...(thinking === undefined ? [] : [reasoning(thinking)]),
    ...(text === undefined ? [] : [message({ type: 'output_text', text, annotations: [] })]),
    ...(refusal === undefined ? [] : [message({ type: 'refusal', refusal })]),
    ...toolCalls.map(({ id, name, arguments: written }, index) => ({
      type: 'function_call' as const,
      id: `fc_${index}`,
      call_id: id,
      name,
      arguments: written,
      status: 'completed',
    })),
  ]
}

function streamed(item: Item, index: number): Event[] {
  const place = { output_index: index, item_id: item.id }
  const delta = (type: string, text: string): Event[] => halves(text).map((half) => ({ type, delta: half, ...place }))
  const deltas: Event[] = []
  let begun: object = item
  if (item.type === 'reasoning') {
    begun = { ...item, summary: [] }
    for (const { text } of item.summary) deltas.push(...delta('response.reasoning_summary_text.delta', text))
  } else if (item.type === 'function_call') {
    begun = { ...item, arguments: '' }
    deltas.push(...delta('response.function_call_arguments.delta', item.arguments))
  } else {
    begun = { ...item, content: [] }
    for (const part of item.content) {
      if ('text' in part) deltas.push(...delta('response.output_text.delta', String(part.text)))
    }
  }
  return [
    { type: 'response.output_item.added', item: begun, ...place },
    ...deltas,
    { type: 'response.output_item.done', item, ...place },
  ]
}

function usageOf({ input = 0, cacheRead, cacheWrite, output = 0 }: TokenUsage) {
  const details = {
    ...(cacheRead !== undefined && { cached_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
  }
  return {
    input_tokens: input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output_tokens: output,
    ...(Object.keys(details).length > 0 && { input_tokens_details: details }),
  }
}
