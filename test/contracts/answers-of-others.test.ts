import { textOf } from 'entia'
import { describe, expect, it } from 'vitest'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { call, failureOf, joined, replyOf, requestOf } from './model-calls.ts'
import {
  blocks,
  callItem,
  chatWire,
  chunks,
  event,
  items,
  messagesWire,
  openBlocks,
  responsesWire,
  saidItem,
  type WireOfOthers,
} from './wires-of-others.ts'

const called = { type: 'tool-call', name: 'add', arguments: { a: 1, b: 2 } }
const written = '{"a":1,"b":2}'

/** A reply that a server sends as it stands, what listeners heard of it, and how often it was paid. */
async function heard(wire: WireOfOthers, raw: string | object) {
  const server = await startScriptedServer(() => (typeof raw === 'string' ? raw : { body: raw }))
  const { deltas, outcome } = await call(wire.make(server.url), requestOf())
  if (!outcome.ok) throw new Error(`It failed: ${outcome.failure.message}`)
  const { message, stop, usage } = outcome.value
  return { content: message.content, stop, usage, text: joined(deltas, 'text'), args: joined(deltas, 'tool-arguments') }
}

describe('an answer over Chat Completions', () => {
  it('may have its text as a list of parts, in any mixture', async () => {
    const parts = [{ type: 'text', text: 'It ' }, { type: 'output_text', text: 'is' }, ' ']
    const { content, text } = await heard(
      chatWire,
      chunks([{ content: '' }, { content: parts }, { content: '42.' }, { content: [] }]),
    )
    expect(content).toEqual([{ type: 'text', text: 'It is 42.' }])
    expect(text).toBe('It is 42.')
  })

  it('may refuse in a part of its content', async () => {
    const server = await startScriptedServer(() => chunks([{ content: [{ type: 'refusal', refusal: 'No.' }] }]))
    expect((await failureOf(chatWire.make(server.url))).kind).toBe('refused')
  })

  it('may call one function in the older way, in pieces', async () => {
    const pieces = [{ name: 'add' }, { arguments: '{"a":1' }, { arguments: ',"b":2}' }].map((piece) => ({
      function_call: piece,
    }))
    const { content, args, stop } = await heard(chatWire, chunks(pieces, 'function_call'))
    expect(content).toMatchObject([called])
    expect([args, stop]).toEqual([written, 'tool-calls'])
  })

  it('is read without a stream', async () => {
    const tool = { id: 'c1', type: 'function', function: { name: 'add', arguments: written } }
    const message = { role: 'assistant', content: 'Let me add.', reasoning_content: 'Hm.', tool_calls: [tool] }
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
    const whole = {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage,
    }
    const reply = await heard(chatWire, whole)
    expect(reply.content).toMatchObject([{ type: 'thinking', text: 'Hm.' }, { text: 'Let me add.' }, called])
    expect(reply).toMatchObject({ text: 'Let me add.', args: written, usage: { input: 3, output: 4 } })
    const long = 'x'.repeat(200_000)
    const answer = { choices: [{ message: { content: long }, finish_reason: 'stop' }] }
    expect((await heard(chatWire, `\n\n  \n\n${JSON.stringify(answer)}\n`)).text).toBe(long)
    expect((await heard(chatWire, JSON.stringify(answer, undefined, 2))).text).toBe(long)
  })

  it('is complete where the server says neither [DONE] nor its counts, and goes on with comments', async () => {
    const server = await startScriptedServer(() => {
      return { body: chunks([{ content: 'Hi.' }]).replace('data: [DONE]\n\n', ''), goesOn: ': keep-alive\n\n' }
    })
    expect(textOf((await replyOf(chatWire.make(server.url))).message)).toBe('Hi.')
    expect(server.bodies).toHaveLength(1)
  })
})

describe('an answer over the Messages API', () => {
  const hello = [
    [
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Hello.' },
    ],
  ] as const

  it.each([
    ['ends', { body: openBlocks(hello) }],
    ['has nothing but pings', { body: openBlocks(hello), goesOn: event({ type: 'ping' }) }],
  ])('is complete where the stream %s behind its stop reason', async (_, said) => {
    const server = await startScriptedServer(() => said)
    const { outcome } = await call(messagesWire.make(server.url), requestOf())
    expect(outcome).toMatchObject({
      ok: true,
      value: { stop: 'end', message: { content: [{ type: 'text', text: 'Hello.' }] }, usage: { input: 3, output: 4 } },
    })
    expect(server.bodies).toHaveLength(1)
  })

  it('is not complete where the stream ends before its stop reason', async () => {
    const whole = openBlocks(hello)
    const server = await startScriptedServer(() => whole.slice(0, whole.indexOf('event: message_delta')))
    expect((await failureOf(messagesWire.make(server.url))).kind).toBe('truncated')
  })

  it('may have texts, thinking and arguments in the starts of its blocks', async () => {
    const use = { type: 'tool_use', id: 'a', name: 'add', input: { a: 1, b: 2 } }
    const thinks = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const reply = await heard(messagesWire, blocks([[thinks], [{ type: 'text', text: 'See.' }], [use]], 'tool_use'))
    expect(reply.content).toMatchObject([{ text: 'Hm.', signature: 'c2ln' }, { text: 'See.' }, called])
    expect(reply).toMatchObject({ text: 'See.', args: written })
  })

  it('is read without a stream', async () => {
    const content = [
      { type: 'text', text: 'See.' },
      { type: 'tool_use', id: 'a', name: 'add', input: { a: 1, b: 2 } },
    ]
    const usage = { input_tokens: 3, output_tokens: 4 }
    const whole = {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content,
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage,
    }
    const reply = await heard(messagesWire, whole)
    expect(reply.content).toMatchObject([{ text: 'See.' }, called])
    expect(reply).toMatchObject({ text: 'See.', args: written, usage: { input: 3, output: 4 }, stop: 'tool-calls' })
  })

  it.each([
    ['stop', 'end'],
    ['tool_calls', 'end'],
    ['length', 'max-tokens'],
  ])('that ends with "%s", the word of another protocol, ends as %s', async (word, stop) => {
    expect((await heard(messagesWire, blocks(hello, word))).stop).toBe(stop)
  })

  it.each([
    ['content_filter', 'refused'],
    ['sensitive', 'refused'],
    ['guardrail_intervened', 'refused'],
    ['network_error', 'overloaded'],
  ])('that ends with "%s" fails as %s', async (word, kind) => {
    const server = await startScriptedServer(() => blocks(hello, word))
    expect((await failureOf(messagesWire.make(server.url))).kind).toBe(kind)
  })
})

describe('an answer over the Responses API', () => {
  const delta = (text: string) =>
    event({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: text })
  const added = (item: object, index: number) =>
    event({ type: 'response.output_item.added', output_index: index, item })
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'RW5j' }

  it.each([
    ['whose items come with its end alone', items([], { output: [saidItem('See.'), callItem()] })],
    [
      'whose text was heard and whose items come with its end',
      delta('See.') + items([], { output: [saidItem('See.'), callItem()] }),
    ],
    ['whose end has nothing', items([saidItem('See.'), callItem()])],
    ['whose end has the rest', items([saidItem('See.')], { output: [saidItem('See.'), callItem()] })],
    [
      'whose end has the same under other ids',
      items([saidItem('See.'), callItem()], { output: [saidItem('See.', { id: 'x' }), callItem({ id: 'y' })] }),
    ],
    [
      'of which there are only deltas',
      added({ ...saidItem(''), content: [] }, 0) +
        delta('See') +
        delta('.') +
        added(callItem({ arguments: '' }), 1) +
        event({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: written }) +
        items([]),
    ],
  ])('%s is whole', async (_, raw) => {
    const reply = await heard(responsesWire, raw)
    expect(reply.content).toMatchObject([
      { type: 'text', text: 'See.' },
      { ...called, id: 'call_1' },
    ])
    expect(reply.content).toHaveLength(2)
    // Items that come whole are not heard in pieces.
    const isHeard = raw.includes('delta') || !raw.includes('item.done')
    expect(isHeard ? [reply.text, reply.args] : ['See.', written]).toEqual(['See.', written])
  })

  it('keeps the order of its last event where the items came without the first', async () => {
    const reply = await heard(responsesWire, items([saidItem('See.')], { output: [reasoning, saidItem('See.')] }))
    expect(reply.content).toMatchObject([{ type: 'thinking', redacted: 'RW5j' }, { type: 'text' }])
  })

  it('is read without a stream', async () => {
    const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
    const whole = {
      id: 'r',
      object: 'response',
      status: 'completed',
      error: null,
      output: [saidItem('See.'), callItem()],
      usage,
    }
    const reply = await heard(responsesWire, whole)
    expect(reply.content).toMatchObject([{ text: 'See.' }, called])
    expect(reply).toMatchObject({ text: 'See.', args: written, usage: { input: 3, output: 4 } })
    const cut = {
      ...whole,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [saidItem('Se')],
    }
    expect((await heard(responsesWire, cut)).stop).toBe('max-tokens')
  })

  it('is complete where the connection stays open behind its end', async () => {
    const server = await startScriptedServer(() => ({ body: items([saidItem('See.')]), goesOn: ': ping\n\n' }))
    expect(textOf((await replyOf(responsesWire.make(server.url))).message)).toBe('See.')
  })

  it.each([
    ['content_filter', 'refused'],
    ['model_context_window_exceeded', 'context-overflow'],
  ])('that stays incomplete for %s fails as %s', async (reason, kind) => {
    const end = { status: 'incomplete', incomplete_details: { reason } }
    const server = await startScriptedServer(() => items([saidItem('Se')], end))
    expect((await failureOf(responsesWire.make(server.url))).kind).toBe(kind)
  })
})
