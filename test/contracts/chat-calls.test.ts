import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { AssistantMessage } from '../../src/protocol/message.ts'
import { openaiCompatible } from '../../src/models/openai.ts'
import { ChatCalls } from '../../src/models/openai/chat-calls.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { type LoopbackServer, sse } from '../servers/loopback.ts'
import { type Call, call } from './model-calls.ts'

let server: LoopbackServer | undefined
afterEach(() => server?.close())

/** What a model says whose server streams these choices, a list of them a chunk. */
async function streamed(...chunks: readonly (readonly object[])[]): Promise<Call> {
  const frame = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'small' }
  const ends = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  const raw = [...chunks, ends].map((choices) => sse({ ...frame, choices })).join('')
  server = await startChatServer(() => ({ raw: `${raw}data: [DONE]\n\n` }))
  return call(openaiCompatible({ name: 'local', baseURL: server.url }))
}

/** The same of the pieces of calls. */
function called(...pieces: readonly object[]): Promise<Call> {
  return streamed(...pieces.map((piece) => [{ index: 0, delta: { tool_calls: [piece] } }]))
}

async function callsOf(streaming: Promise<Call>): Promise<AssistantMessage['content']> {
  const { outcome } = await streaming
  if (!outcome.ok) throw new Error(outcome.failure.message)
  return outcome.value.message.content
}

function piece(name: string | undefined, written: unknown, more: object = {}): object {
  return { type: 'function', function: { ...(name !== undefined && { name }), arguments: written }, ...more }
}

const add = { type: 'tool-call', name: 'add', arguments: { a: 2, b: 3 } }
const say = { type: 'tool-call', name: 'say', arguments: { text: 'Hi' } }
const [addArguments, sayArguments] = ['{"a":2,"b":3}', '{"text":"Hi"}']

describe('calls of a compatible server', () => {
  it.each([
    ['the same index and ids of their own', { index: 0, id: 'a' }, { index: 0, id: 'b' }],
    ['no index and ids of their own', { id: 'a' }, { id: 'b' }],
    ['the same index and no ids', { index: 0 }, { index: 0 }],
    ['no index and no ids', {}, {}],
    ['no index and empty ids', { id: '' }, { id: '' }],
    ['the same index and the same id', { index: 0, id: 'a' }, { index: 0, id: 'a' }],
  ])('with %s are two calls, each with its own arguments', async (_, first, second) => {
    const content = await callsOf(called(piece('add', addArguments, first), piece('say', sayArguments, second)))
    expect(content).toMatchObject([add, say])
  })

  it('of one tool with the same index and no ids are two calls', async () => {
    const content = await callsOf(
      called(piece('say', sayArguments, { index: 0 }), piece('say', '{"text":"Bye"}', { index: 0 })),
    )
    expect(content).toMatchObject([say, { ...say, arguments: { text: 'Bye' } }])
    expect(new Set(content.map((block) => 'id' in block && block.id)).size).toBe(2)
  })

  it('that come in pieces under one index are told apart by a new id', async () => {
    const content = await callsOf(
      called(
        piece('add', '{"a":2,', { index: 0, id: 'a' }),
        piece(undefined, '"b":3}', { index: 0 }),
        piece('say', '{"te', { index: 0, id: 'b' }),
        piece(undefined, 'xt":"Hi"}', { index: 0 }),
      ),
    )
    expect(content).toMatchObject([
      { ...add, id: 'a' },
      { ...say, id: 'b' },
    ])
  })

  it('that come in turns under indices of their own keep their pieces apart', async () => {
    const content = await callsOf(
      called(
        piece('say', '{"te', { index: 1, id: 'b' }),
        piece('add', '{"a":2,', { index: 0, id: 'a' }),
        piece(undefined, 'xt":"Hi"}', { index: 1 }),
        piece(undefined, '"b":3}', { index: 0 }),
      ),
    )
    expect(content).toMatchObject([
      { ...add, id: 'a' },
      { ...say, id: 'b' },
    ])
  })

  it.each([
    ['the id and the name in each piece', { index: 0, id: 'a' }],
    ['the name in each piece', { index: 0 }],
    ['the name in each piece, and no index', {}],
  ])('with %s are one call', async (_, more) => {
    const content = await callsOf(called(piece('add', '{"a":2,', more), piece('add', '"b":3}', more)))
    expect(content).toMatchObject([add])
  })

  it('with an empty piece behind the last are no more calls for it', async () => {
    const more = { index: 0, id: 'a' }
    expect(await callsOf(called(piece('add', addArguments, more), piece('add', '', more)))).toMatchObject([add])
  })

  it('whose names come late have them, and are streamed under them', async () => {
    const { outcome, deltas } = await called(
      piece('', '{"a":2,', { index: 0, id: 'a' }),
      piece('add', '', { index: 0 }),
      piece(undefined, '"b":3}', { index: 0 }),
    )
    expect(outcome).toMatchObject({ value: { message: { content: [{ ...add, id: 'a' }] } } })
    expect(deltas).toEqual([
      { type: 'tool-call', id: 'a', name: 'add' },
      { type: 'tool-arguments', id: 'a', text: '{"a":2,' },
      { type: 'tool-arguments', id: 'a', text: '"b":3}' },
    ])
  })

  it('whose ids come late are one call each', async () => {
    const content = await callsOf(
      called(piece('add', '{"a":2,', { index: 0 }), piece(undefined, '"b":3}', { id: 'a' })),
    )
    expect(content).toMatchObject([add])
  })

  it.each([
    ['in the midst of the arguments', '{"a":2,', '"b":3}'],
    ['before the arguments', '', addArguments],
  ])('whose ids come late with the name again, %s, are one call each', async (_, first, rest) => {
    const content = await callsOf(
      called(
        piece('add', first, { index: 0 }),
        piece('add', rest, { index: 0, id: 'a' }),
        piece('add', first, { index: 1 }),
        piece('add', rest, { index: 1, id: 'b' }),
      ),
    )
    expect(content).toMatchObject([add, add])
  })

  it('with arguments that are an object, and no text, have these', async () => {
    const content = await callsOf(called(piece('add', { a: 2, b: 3 }), piece('say', { text: 'Hi' })))
    expect(content).toMatchObject([add, say])
  })
})

describe('chunks of a compatible server', () => {
  it('with several choices out of order are read for the first of them alone', async () => {
    const { outcome, deltas } = await streamed(
      [
        { index: 1, delta: { content: 'Wrong' } },
        { index: 0, delta: { content: 'Right' } },
      ],
      [{ index: 1, delta: { content: ' or not.' } }],
      [{ index: 0, delta: { content: ' it is.' } }],
    )
    expect(outcome).toMatchObject({ value: { message: { content: [{ text: 'Right it is.' }] } } })
    expect(deltas.map((delta) => 'text' in delta && delta.text)).toEqual(['Right', ' it is.'])
  })

  it('without a delta, as Azure sends its findings on the content, say nothing', async () => {
    const filter = {
      content_filter_results: { hate: { filtered: false } },
      content_filter_offsets: { start_offset: 0 },
    }
    const findings = { index: 0, finish_reason: null, ...filter }
    const { outcome } = await streamed([findings], [{ index: 0, delta: { content: 'Hi.' } }], [findings])
    expect(outcome).toMatchObject({ value: { message: { content: [{ text: 'Hi.' }] } } })
  })

  it('with an empty finish_reason each do not end the answer', async () => {
    const { outcome } = await streamed(
      [{ index: 0, delta: { content: 'Hi' }, finish_reason: '' }],
      [{ index: 0, delta: { content: '.' }, finish_reason: '' }],
    )
    expect(outcome).toMatchObject({ value: { message: { content: [{ text: 'Hi.' }] }, stop: 'end' } })
  })
})

describe('calls that come in any pieces', () => {
  const style = fc.record({
    index: fc.constantFrom('own' as const, 'zero' as const, 'none' as const),
    ids: fc.boolean(),
    isRepeated: fc.boolean(),
    isObject: fc.boolean(),
  })
  const calls = fc.array(
    fc.record({ name: fc.constantFrom('add', 'say'), text: fc.string(), cuts: fc.array(fc.nat(40), { maxLength: 4 }) }),
    { minLength: 1, maxLength: 5 },
  )

  it('are the same calls in every style of a server', () => {
    fc.assert(
      fc.property(style, calls, ({ index, ids, isRepeated, isObject }, made) => {
        const reader = new ChatCalls(4, () => undefined)
        for (const [at, { name, text, cuts }] of made.entries()) {
          const place = index === 'none' ? {} : { index: index === 'own' ? at : 0 }
          const whole = JSON.stringify({ text })
          const parts = isObject ? [{ text }] : partsOf(whole, cuts)
          for (const [part, written] of parts.entries()) {
            const isTold = part === 0 || isRepeated
            const id = ids && isTold ? { id: `call-${at}` } : {}
            reader.take({ ...place, ...id, function: { ...(isTold && { name }), arguments: written } })
          }
        }
        const read = reader.blocks(false).map(({ name, arguments: input }) => [name, input['text']])
        expect(read).toEqual(made.map(({ name, text }) => [name, text]))
      }),
    )
  })
})

/** A text cut at these places. The first piece has something: it is what tells a call from the one before it. */
function partsOf(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((cut) => 1 + (cut % text.length)))].toSorted((a, b) => a - b)
  return [0, ...places].map((from, place) => text.slice(from, places[place])).filter((part) => part !== '')
}
