import { describe, expect, it } from 'vitest'
import { type JsonBody, listOf, sse } from '../servers/loopback.ts'
import { startScriptedServer } from '../servers/scripted-server.ts'
import { answered } from './answered.ts'
import { failureOf, replyOf } from './model-calls.ts'
import {
  blocks,
  callItem,
  chatWire,
  chunks,
  event,
  items,
  messagesWire,
  responsesWire,
  saidItem,
  wiresOfOthers,
} from './wires-of-others.ts'

const written = '{"a":1,"b":2}'
const called = { type: 'tool-call', name: 'add', arguments: { a: 1, b: 2 } }
const signature = 'c2lnbmF0dXJl'

function contentOf(back: readonly JsonBody[]): readonly JsonBody[] {
  return listOf(back[0]?.['content'])
}

describe('a Messages stream', () => {
  const use = { type: 'tool_use', id: 'a', name: 'add', input: {} }
  const writes = { type: 'input_json_delta', partial_json: written }
  const says = (text: string) => ({ type: 'text_delta', text })
  const usual = blocks(
    [
      [{ type: 'text', text: '' }, says('One.')],
      [{ type: 'text', text: '' }, says('Two.')],
      [use, writes],
    ],
    'tool_use',
  )

  it.each([
    ['that gives each block the index 0', usual.replaceAll(/"index":\d/g, '"index":0')],
    ['that gives no index', usual.replaceAll(/"index":\d,/g, '')],
    ['that begins no texts', usual.replaceAll(/event: content_block_start\n[^\n]*"text"[^\n]*\n\n/g, '')],
  ])('%s has all of its blocks', async (_, raw) => {
    const { content, heard } = await answered(messagesWire, raw)
    expect(content.at(-1)).toMatchObject(called)
    expect(content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe('One.Two.')
    expect(heard).toEqual({ text: 'One.Two.', args: written })
  })

  it('may think in a block that was begun as a text', async () => {
    const { content } = await answered(
      messagesWire,
      blocks([[{ type: 'text', text: '' }, { type: 'thinking_delta', thinking: 'Hm.' }, says('One.')]]),
    )
    expect(content.filter((block) => block.type !== 'text' || block.text !== '')).toMatchObject([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'One.' },
    ])
  })

  it('gets back signatures of calls and texts, wherever they stand', async () => {
    const { back } = await answered(
      messagesWire,
      blocks(
        [
          [{ type: 'text', text: '' }, says('One.'), { type: 'signature_delta', signature }],
          [{ ...use, signature }, writes],
          [
            { ...use, id: 'b' },
            writes,
            { type: 'signature_delta', signature: 'c2ln' },
            { type: 'signature_delta', signature: 'b2Y' },
          ],
        ],
        'tool_use',
      ),
    )
    expect(contentOf(back)).toMatchObject([{ signature }, { id: 'a', signature }, { id: 'b', signature: 'c2lnb2Y' }])
  })

  it('gets back blocks and deltas of types that come later', async () => {
    const summary = { type: 'compaction', content: '', meta: { a: 1 } }
    const { back, content } = await answered(
      messagesWire,
      blocks([
        [summary, { type: 'compaction_delta', content: 'So ' }, { type: 'compaction_delta', content: 'far.' }],
        [{ type: 'text', text: '' }, says('One.')],
      ]),
    )
    expect(content).toHaveLength(2)
    expect(contentOf(back)).toMatchObject([{ ...summary, content: 'So far.' }, { text: 'One.' }])
  })

  it('is the same when each byte comes by itself', async () => {
    const raw = usual.replace('One.', 'Ünö 😀')
    const [whole, split] = [
      await answered(messagesWire, raw),
      await answered(messagesWire, { body: raw, pieceBytes: 1 }),
    ]
    expect(split).toEqual(whole)
  })
})

describe('a stream of Chat Completions', () => {
  it('gets back what is beside the texts of its content, each at its place', async () => {
    const one = { type: 'text', text: 'One.', extra_content: { google: { thought_signature: signature } } }
    const two = { type: 'text', text: 'Two.' }
    const three = { type: 'text', text: 'Three.', citations: [1, 1] }
    for (const raw of [
      chunks([{ content: [one, two, three] }]),
      chunks([{ content: [one] }, { content: [two] }, { content: [three] }]),
    ]) {
      const { back, heard } = await answered(chatWire, raw)
      expect(contentOf(back)).toEqual([one, two, three])
      expect(heard.text).toBe('One.Two.Three.')
    }
  })

  it.each([
    ['as a text', { type: 'thinking', thinking: 'Hm.' }],
    [
      'with parts of other types',
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'Hm.' },
          { type: 'reference', ids: [1] },
        ],
      },
    ],
  ])('gets its thinking back in its own form: %s', async (_, thinking) => {
    const { back, content } = await answered(chatWire, chunks([{ content: [thinking] }, { content: 'One.' }]))
    expect(content[0]).toMatchObject({ type: 'thinking', text: 'Hm.' })
    expect(contentOf(back)).toEqual([thinking, { type: 'text', text: 'One.' }])
  })

  it('tells two thoughts with signatures apart', async () => {
    const thought = (text: string, seal: string) => ({
      type: 'thinking',
      thinking: [{ type: 'text', text }],
      signature: seal,
    })
    const parts = [thought('Hm.', 'c2ln'), thought('Ah.', 'b2Y')]
    const { back } = await answered(chatWire, chunks([{ content: parts }, { content: 'One.' }]))
    expect(contentOf(back).slice(0, 2)).toEqual(parts)
  })

  it('puts reasoning together that comes among the parts of its content, and shows it to no one', async () => {
    const piece = (text: string, seal = '') => ({
      content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text, signature: seal }] }],
    })
    const { back, heard } = await answered(
      chatWire,
      chunks([piece('Two '), piece('and two.'), piece('', signature), { content: [{ type: 'text', text: 'Four.' }] }]),
    )
    const summary = [{ type: 'summary_text', text: 'Two and two.', signature }]
    expect(contentOf(back)).toEqual([
      { type: 'reasoning', summary },
      { type: 'text', text: 'Four.' },
    ])
    expect(heard.text).toBe('Four.')
    const plain = await answered(
      chatWire,
      chunks([{ content: [{ type: 'reasoning', text: 'Hm.' }] }, { content: 'One.' }]),
    )
    expect(plain.heard.text).toBe('One.')
  })

  it('that calls a function in both ways calls it once', async () => {
    const named = { name: 'add', arguments: written }
    const { content } = await answered(
      chatWire,
      chunks(
        [{ function_call: named, tool_calls: [{ index: 0, id: 'a', type: 'function', function: named }] }],
        'tool_calls',
      ),
    )
    expect(content).toMatchObject([{ ...called, id: 'a' }])
    expect(content).toHaveLength(1)
  })

  it('with "null" for a reason goes on', async () => {
    const raw = chunks([{ content: 'One.' }, { content: 'Two.' }]).replaceAll(
      '"finish_reason":null',
      '"finish_reason":"null"',
    )
    expect(await answered(chatWire, raw)).toMatchObject({ heard: { text: 'One.Two.' }, stop: 'end' })
  })

  it('without a reason is complete once it has said its counts or that it is done, and not before', async () => {
    const chunk = (delta: object) => sse({ choices: [{ index: 0, delta, finish_reason: null }] })
    const said = chunk({ role: 'assistant' }) + chunk({ content: 'One.' })
    const counts = sse({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } })
    const done = 'data: [DONE]\n\n'
    for (const end of [counts + done, counts, done]) {
      expect((await answered(chatWire, said + end)).content).toMatchObject([{ text: 'One.' }])
    }
    for (const raw of [said, chunk({}) + counts, chunk({}) + done]) {
      const server = await startScriptedServer(() => raw)
      expect((await failureOf(chatWire.make(server.url))).kind).toBe('truncated')
    }
  })

  it('keeps each picture and each source once, however often it is sent', async () => {
    const picture = (url: string) => ({ type: 'image_url', image_url: { url } })
    const source = (url: string) => ({ url, title: 'A' })
    const { back } = await answered(
      chatWire,
      chunks([
        { content: 'One.', images: [picture('a')], sources: [source('x')], ids: [1] },
        { images: [picture('b')], sources: [source('x'), source('y')], ids: [1] },
        { sources: [source('x'), source('y')] },
      ]),
    )
    expect(back[0]).toMatchObject({
      images: [picture('a'), picture('b')],
      sources: [source('x'), source('y')],
      ids: [1, 1],
    })
  })

  it('is the same when each byte comes by itself', async () => {
    const call = { index: 0, id: 'a', type: 'function', function: { name: 'add', arguments: written }, odd: 'Ü😀' }
    const raw = chunks([{ content: 'Ünö 😀' }, { tool_calls: [call] }], 'tool_calls')
    const [whole, split] = [await answered(chatWire, raw), await answered(chatWire, { body: raw, pieceBytes: 1 })]
    expect(split).toEqual(whole)
  })
})

describe('a Responses stream', () => {
  const says = (text: string, more: object = {}) => event({ type: 'response.output_text.delta', delta: text, ...more })
  const done = (item: object) => event({ type: 'response.output_item.done', item })
  const placed = { item_id: 'msg_1', output_index: 0 }
  const bare = (text: string) => ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })

  it.each([
    ['of deltas without a place', says('One.') + says('Two.') + items([])],
    [
      'of texts that come in one piece',
      event({ type: 'response.output_text.done', text: 'One.Two.', ...placed }) + items([]),
    ],
    [
      'whose items say less than its deltas',
      says('One.', placed) + says('Two.', placed) + items([{ ...saidItem(''), content: [] }]),
    ],
    [
      'that ends in the word of others',
      done(bare('One.Two.')) + event({ type: 'response.done', response: { status: 'completed' } }),
    ],
    [
      'that repeats a text at its end, without ids and in another place',
      done({ type: 'reasoning', summary: [] }) + done(bare('One.Two.')) + items([], { output: [bare('One.Two.')] }),
    ],
    [
      'whose deltas have another id than its item',
      says('One.Two.', { item_id: 'a' }) + done({ ...bare('One.Two.'), id: 'b' }) + items([]),
    ],
    ['that has another text at its end', done(bare('One.')) + items([], { output: [bare('One.'), bare('Two.')] })],
  ])('%s is whole', async (_, raw) => {
    const { content } = await answered(responsesWire, raw)
    expect(content.map((block) => (block.type === 'text' ? block.text : '')).join('')).toBe('One.Two.')
  })

  it.each(['', 'call_0', undefined])('keeps two calls that have one id: %j', async (id) => {
    const calls = [callItem({ id: 'fc_1', call_id: id }), callItem({ id: 'fc_2', call_id: id, arguments: '{}' })]
    for (const raw of [items(calls), items([], { output: calls }), items(calls, { output: calls })]) {
      const { content } = await answered(responsesWire, raw)
      expect(content).toMatchObject([called, { name: 'add', arguments: {} }])
      expect(content).toHaveLength(2)
    }
  })

  it('has the arguments of its deltas where its item has none', async () => {
    const added = event({ type: 'response.output_item.added', output_index: 0, item: callItem({ arguments: '' }) })
    const wrote = event({
      type: 'response.function_call_arguments.delta',
      item_id: 'fc_1',
      output_index: 0,
      delta: written,
    })
    const whole = event({
      type: 'response.function_call_arguments.done',
      item_id: 'fc_1',
      output_index: 0,
      arguments: written,
    })
    for (const said of [wrote, whole, wrote + whole]) {
      const { content, heard } = await answered(responsesWire, added + said + items([callItem({ arguments: '' })]))
      expect(content).toMatchObject([called])
      expect(heard.args).toBe(written)
    }
  })

  it('that gives a call other ids when it is done calls once', async () => {
    const added = event({ type: 'response.output_item.added', output_index: 0, item: callItem({ arguments: '' }) })
    const wrote = event({
      type: 'response.function_call_arguments.delta',
      item_id: 'fc_1',
      output_index: 0,
      delta: written,
    })
    const { content } = await answered(
      responsesWire,
      added + wrote + items([callItem({ id: 'fc_x', call_id: 'call_x' })]),
    )
    expect(content).toMatchObject([{ ...called, id: 'call_x' }])
    expect(content).toHaveLength(1)
  })

  it('that refuses in deltas alone is a refusal', async () => {
    const server = await startScriptedServer(() => event({ type: 'response.refusal.delta', delta: 'No.' }) + items([]))
    expect(await failureOf(responsesWire.make(server.url))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('No.') as string,
    })
  })

  it('is the same when each byte comes by itself', async () => {
    const raw = says('Ünö 😀', placed) + items([saidItem('Ünö 😀', { odd: 'Ü' }), callItem()])
    const [whole, split] = [
      await answered(responsesWire, raw),
      await answered(responsesWire, { body: raw, pieceBytes: 1 }),
    ]
    expect(split).toEqual(whole)
  })
})

describe.each(wiresOfOthers)('a stream of $name', (wire) => {
  it('is whole behind heartbeats, without names of events, in other line ends and without its last line', async () => {
    const raw = wire.text('One.')
    const beats = `retry: 3000\n\ndata:\n\n: keep-alive\n\nevent: ping\n\n${raw.replaceAll('\n\n', '\n\ndata: \n\nid: 7\n\n')}`
    const streams = [
      beats,
      raw.replaceAll(/^event: .*\n/gm, ''),
      raw.replaceAll('data: ', 'data:').replaceAll('\n', '\r\n'),
      raw.replace(/\n+$/, ''),
    ]
    for (const stream of streams) expect((await answered(wire, stream)).content).toMatchObject([{ text: 'One.' }])
  })
})

describe('a whole answer that gives no reason', () => {
  it.each([
    [chatWire, { choices: [{ message: { content: 'One.' }, finish_reason: null }] }],
    [chatWire, { choices: [{ index: 0, message: { content: 'One.' } }] }],
    [messagesWire, { type: 'message', content: [{ type: 'text', text: 'One.' }], stop_reason: null }],
    [responsesWire, { object: 'response', output: [saidItem('One.')] }],
  ])('of $name is complete, behind a byte order mark too', async (wire, body) => {
    for (const sent of [body, `\uFEFF${JSON.stringify(body)}`]) {
      const server = await startScriptedServer(() => ({ body: sent }))
      expect((await replyOf(wire.make(server.url))).message.content).toMatchObject([{ type: 'text', text: 'One.' }])
    }
  })
})
