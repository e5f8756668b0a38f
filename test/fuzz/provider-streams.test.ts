import fc from 'fast-check'
import { failureKinds } from '../../src/protocol/failure.ts'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/models/anthropic.ts'
import { openai, openaiCompatible } from '../../src/models/openai.ts'
import type { ModelProvider } from '../../src/models/port.ts'
import { argumentsProblem, readArguments } from '../../src/rules/projection/tool-calls.ts'
import { wellFormedJson } from '../../src/models/wire-values.ts'
import { call } from '../contracts/model-calls.ts'
import { breaks, broken, jsonText, type Parsed } from './broken-json.ts'
import { fuzz, fuzzTimeoutMs } from './cases.ts'

/** What the server sends next. */
let raw = ''
/** No server in between: what it notes of 10,000 requests would count as growth. */
const place = {
  baseURL: 'http://127.0.0.1:1/v1',
  apiKey: 'key',
  fetch: async () => new Response(raw, { headers: { 'content-type': 'text/event-stream' } }),
}
const providers = [anthropic(place), openai(place), openaiCompatible({ name: 'local', ...place })]

const usage = { input_tokens: 3, output_tokens: 5, prompt_tokens: 3, completion_tokens: 5 }
const called = { type: 'function_call', id: 'i', call_id: 'a', name: 'say', arguments: '{"x":[1]}' }
const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }
const thought = { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'x' }
const choice = (delta: Parsed, rest = {}): Parsed => ({ choices: [{ index: 0, delta, ...rest }] })

/** Of each protocol, the events of an answer with thinking, text, a call and usage. */
const streams: readonly (readonly [name: string, events: readonly Parsed[]])[] = [
  [
    'anthropic',
    [
      { type: 'message_start', message: { usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'x' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 'a', name: 'say', input: {} } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"x":[1]}' } },
      {
        type: 'content_block_start',
        index: 3,
        content_block: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
      },
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_details: null }, usage },
      { type: 'message_stop' },
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
  ],
  [
    'openai',
    [
      { type: 'response.output_text.delta', delta: 'Hi' },
      { type: 'response.output_item.done', item: thought },
      { type: 'response.output_item.added', item: called },
      { type: 'response.function_call_arguments.delta', item_id: 'i', delta: '{"x"' },
      { type: 'response.output_item.done', item: called },
      { type: 'response.output_item.done', item: { type: 'web_search_call', id: 'w', action: { query: 'x' } } },
      { type: 'response.output_item.done', item: said },
      { type: 'response.completed', response: { status: 'completed', usage, incomplete_details: null } },
      { type: 'response.failed', response: { error: { code: 'server_error', message: 'Broken' } } },
    ],
  ],
  [
    'chat',
    [
      choice({ reasoning_content: 'Hm' }),
      choice({ content: 'Hi' }),
      choice({ tool_calls: [{ index: 0, id: 'a', function: { name: 'say', arguments: '{"x"' } }] }),
      choice({ tool_calls: [{ index: 0, function: { arguments: ':[1]}' } }] }),
      choice({}, { finish_reason: 'tool_calls', error: { message: 'Broken' } }),
      { choices: [], usage },
    ],
  ],
]

/** How a call may end; `internal` would be a defect. */
const endings = ['reply', ...failureKinds.filter((kind) => kind !== 'internal')]

/** An event as it stands in a stream; Anthropic's have names. */
function event(json: Parsed, isNamed: boolean): string {
  const name = isNamed && typeof json === 'object' && json !== null && 'type' in json ? json['type'] : undefined
  return `${typeof name === 'string' ? `event: ${name}\n` : ''}data: ${jsonText(json)}\n\n`
}

describe('a stream of a provider', () => {
  it('ends in a reply that a World can hold, or in a failure of a kind', { timeout: fuzzTimeoutMs }, async () => {
    const cut = fc.option(fc.nat(2_000))
    await fuzz(fc.tuple(fc.constantFrom(...streams.keys()), breaks, cut), async ([index, wrong, end]) => {
      const [name, events] = streams[index] as (typeof streams)[number]
      const json = broken(structuredClone(events) as Parsed[], wrong)
      const whole = (Array.isArray(json) ? json : [json]).map((one) => event(one, name === 'anthropic')).join('')
      raw = whole.slice(0, end ?? undefined)
      const { outcome } = await call(providers[index] as ModelProvider)
      const text = JSON.stringify(outcome)
      expect(wellFormedJson(text)).toBe(text)
      expect(endings).toContain(outcome.ok ? 'reply' : outcome.failure.kind)
    })
  })
})

describe('the arguments of a tool call', () => {
  it('are an object, or malformed with a reason', { timeout: fuzzTimeoutMs }, async () => {
    const written = { path: 'a', lines: [1, 2], deep: { x: [{ y: 1 }] } }
    const cut = fc.option(fc.nat(100))
    await fuzz(fc.tuple(breaks, cut), ([wrong, end]) => {
      const text = jsonText(broken(written, wrong)).slice(0, end ?? undefined)
      const { arguments: input, malformed } = readArguments(text)
      expect(input).toBeTypeOf('object')
      expect(malformed === undefined ? 'sound.' : argumentsProblem(malformed)).toMatch(/\.$/)
    })
  })
})
