import { textOf } from 'entia'
import { describe, expect, it, vi } from 'vitest'
import { sse } from '../servers/loopback.ts'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { answered } from './answered.ts'
import { call, failureOf, replyOf, requestOf } from './model-calls.ts'
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

/** A text is a stream, anything else an answer at once. */
async function heard(wire: WireOfOthers, raw: string | object) {
  const { heard: parts, ...reply } = await answered(wire, typeof raw === 'string' ? raw : { body: raw })
  return { ...reply, ...parts }
}

/** What a call gives whose timers go off as soon as it waits for them. */
async function hurried<T>(answer: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const hurrying = setInterval(() => vi.advanceTimersByTime(100), 1)
  try {
    return await answer()
  } finally {
    clearInterval(hurrying)
    vi.useRealTimers()
  }
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

  it.each([
    ['an object', { content: { type: 'text', text: 'Hello.' } }],
    ['one place as a text', { content: 'Hello.' }, { index: '0' }],
    ['both fields beside thinking', { content: 'Hello.', reasoning: 'Hm.', reasoning_content: 'Hm.' }],
    ['a chunk with much else', { content: 'Hello.', tool_calls: null }, { logprobs: null, matched_stop: 2, text: 'x' }],
  ])('may have its text in %s', async (_, delta, choice: object = {}) => {
    const raw = sse({ choices: [{ index: 0, delta, finish_reason: 'stop', ...choice }] })
    expect((await heard(chatWire, `${raw}data: [DONE]\n\n`)).text).toBe('Hello.')
  })

  it('may count the places of its calls in texts', async () => {
    const piece = (index: string, more: object) => ({ tool_calls: [{ index, function: more }] })
    const { content } = await heard(
      chatWire,
      chunks(
        [
          piece('0', { name: 'add', arguments: '' }),
          piece('1', { name: 'sub', arguments: '' }),
          piece('0', { arguments: written }),
          piece('1', { arguments: '{}' }),
        ],
        'tool_calls',
      ),
    )
    expect(content).toMatchObject([called, { name: 'sub', arguments: {} }])
  })

  describe('that a server says once more at its end', () => {
    const fn = { name: 'add', arguments: written }
    const call = { index: 0, id: 'c1', type: 'function', function: fn }
    const end = (message: object) => sse({ choices: [{ index: 0, finish_reason: 'stop', message }] })
    const pieces = (...deltas: readonly object[]) =>
      deltas.map((delta) => sse({ choices: [{ index: 0, delta, finish_reason: null }] })).join('')

    it.each([
      [
        'whole',
        {
          role: 'assistant',
          content: 'Hello.',
          reasoning_content: 'Hm.',
          odd_text: 'x',
          tool_calls: [{ ...call, index: undefined }],
        },
      ],
      ['in parts', { content: [{ type: 'text', text: 'Hello.' }], tool_calls: [call] }],
      ['in the older way', { content: 'Hello.', function_call: fn }],
      ['further', { content: 'Hello.' }],
    ])('is there once: %s', async (_, message) => {
      const said = pieces(
        { reasoning_content: 'Hm.' },
        { content: 'Hel', odd_text: 'x' },
        { content: 'lo.' },
        { tool_calls: [call] },
      )
      const { content, text, args } = await heard(chatWire, said + end(message))
      expect(content).toMatchObject([{ type: 'thinking', text: 'Hm.' }, { type: 'text', text: 'Hello.' }, called])
      expect(content).toHaveLength(3)
      expect([text, args]).toEqual(['Hello.', written])
    })

    it('is there once where both say a call in the older way', async () => {
      const said = pieces({ function_call: { name: 'add' } }, { function_call: { arguments: written } })
      expect((await heard(chatWire, said + end({ content: null, function_call: fn }))).content).toMatchObject([called])
      expect((await heard(chatWire, said + end({ function_call: fn }))).content).toHaveLength(1)
    })

    it('has what its pieces did not say', async () => {
      const message = { content: 'Hello.', tool_calls: [call] }
      expect((await heard(chatWire, pieces({ content: 'Hel' }) + end(message))).content).toMatchObject([
        { text: 'Hello.' },
        called,
      ])
      const more = { content: 'lo.', tool_calls: [{ ...call, id: 'c2' }] }
      const { content } = await heard(chatWire, pieces({ content: 'Hel' }, { tool_calls: [call] }) + end(more))
      expect(content).toMatchObject([{ text: 'Hello.' }, { id: 'c1' }, { id: 'c2' }])
    })
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
    const { message } = await hurried(() => replyOf(chatWire.make(server.url)))
    expect(textOf(message)).toBe('Hi.')
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
    const { outcome } = await hurried(() => call(messagesWire.make(server.url), requestOf()))
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

  it('may say the start of a text or thought again, and the whole message at its end', async () => {
    const raw = openBlocks([
      [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'thinking_delta', thinking: 'Hm' },
        { type: 'thinking_delta', thinking: '.' },
      ],
      [
        { type: 'text', text: 'Hel' },
        { type: 'text_delta', text: 'Hel' },
        { type: 'text_delta', text: 'lo.' },
      ],
      [
        { type: 'text', text: 'A' },
        { type: 'text_delta', text: 'h.' },
      ],
    ])
    const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello.Ah.' }] }
    const { content, text } = await heard(messagesWire, raw + event(message) + event({ type: 'message_stop' }))
    expect(content).toMatchObject([{ text: 'Hm.' }, { text: 'Hello.' }, { text: 'Ah.' }])
    expect(text).toBe('Hello.Ah.')
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

  it.each([
    ['as a text, not as a list', items([{ type: 'message', role: 'assistant', content: 'See.' }, callItem()])],
    ['beside the items', items([], { output_text: 'See.' })],
    [
      'in parts that are done',
      added({ ...saidItem(''), content: [] }, 0) +
        event({
          type: 'response.content_part.done',
          item_id: 'msg_1',
          output_index: 0,
          part: { type: 'output_text', text: 'See.' },
        }) +
        items([]),
    ],
  ])('may have its text %s', async (_, raw) => {
    expect((await heard(responsesWire, raw)).content[0]).toEqual({ type: 'text', text: 'See.' })
  })

  it('has the thinking that came in deltas alone', async () => {
    const raw =
      added({ type: 'reasoning', id: 'rs_1', summary: [] }, 0) +
      event({ type: 'response.reasoning_text.delta', item_id: 'rs_1', output_index: 0, delta: 'Hm' }) +
      event({ type: 'response.reasoning_text.delta', item_id: 'rs_1', output_index: 0, delta: '.' }) +
      items([], { output: [{ type: 'reasoning', id: 'rs_1', summary: [] }, saidItem('See.')] })
    expect((await heard(responsesWire, raw)).content).toMatchObject([
      { type: 'thinking', text: 'Hm.', id: 'rs_1' },
      { text: 'See.' },
    ])
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
    const { message } = await hurried(() => replyOf(responsesWire.make(server.url)))
    expect(textOf(message)).toBe('See.')
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
