import type { ModelProvider } from 'entia'
import { anthropic, openai, openaiCompatible } from 'entia/models'
import { sse } from '../servers/loopback.ts'

type Event = { readonly type: string; readonly [field: string]: unknown }

/** Chunks of Chat Completions: a message in pieces, and its end. */
export function chunks(deltas: readonly object[], finish = 'stop', more: object = {}): string {
  const chunk = (delta: object, reason: string | null): string =>
    sse({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })
  const end = sse({ choices: [{ index: 0, delta: {}, finish_reason: finish }], ...more })
  return `${deltas.map((delta) => chunk(delta, null)).join('')}${end}data: [DONE]\n\n`
}

/** Events of the Messages API: blocks with their deltas, and its end. */
export function blocks(said: readonly (readonly [start: object, ...deltas: object[]])[], stop = 'end_turn'): string {
  return `${openBlocks(said, stop)}${event({ type: 'message_stop' })}`
}

/** The same up to the stop reason, behind which some servers say nothing. */
export function openBlocks(
  said: readonly (readonly [start: object, ...deltas: object[]])[],
  stop = 'end_turn',
): string {
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], usage: { input_tokens: 3 } }
  return [
    event({ type: 'message_start', message }),
    ...said.flatMap(([start, ...deltas], index) => [
      event({ type: 'content_block_start', index, content_block: start }),
      ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
      event({ type: 'content_block_stop', index }),
    ]),
    event({ type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 4 } }),
  ].join('')
}

/** Events of the Responses API: items that are done, and its end. */
export function items(done: readonly object[], response: object = {}): string {
  const end = { id: 'resp_1', object: 'response', status: 'completed', output: [], ...response }
  return [
    ...done.map((item, index) => event({ type: 'response.output_item.done', output_index: index, item })),
    event({ type: 'response.completed', response: end }),
  ].join('')
}

export function saidItem(text: string, more: object = {}) {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content, ...more }
}

export function callItem(more: object = {}) {
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' }
  return { ...call, status: 'completed', ...more }
}

export function event(data: Event): string {
  return sse(data, data.type)
}

/** A protocol, and how it says a text. */
export interface WireOfOthers {
  readonly name: string
  readonly field: 'messages' | 'input'
  make(url: string): ModelProvider
  text(text: string): string
}

export const chatWire: WireOfOthers = {
  name: 'local',
  field: 'messages',
  make: (url) => openaiCompatible({ name: 'local', baseURL: url }),
  text: (text) => chunks([{ role: 'assistant', content: text }]),
}
export const messagesWire: WireOfOthers = {
  name: 'anthropic',
  field: 'messages',
  make: (url) => anthropic({ baseURL: url, apiKey: 'key' }),
  text: (text) =>
    blocks([
      [
        { type: 'text', text: '' },
        { type: 'text_delta', text },
      ],
    ]),
}
export const responsesWire: WireOfOthers = {
  name: 'openai',
  field: 'input',
  make: (url) => openai({ baseURL: url, apiKey: 'key' }),
  text: (text) => items([saidItem(text)]),
}
export const wiresOfOthers: readonly WireOfOthers[] = [chatWire, messagesWire, responsesWire]
