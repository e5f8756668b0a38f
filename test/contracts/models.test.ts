import { fail, type Message, type ModelProvider, scripted, type ScriptedReply } from 'entia'
import { anthropic, openai, openaiCompatible } from 'entia/models'
import { afterEach, describe, expect, it } from 'vitest'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { inTurn, type Answer, type Handler, type LoopbackServer, type Reply } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { call, failureOf, joined, replyOf, requestOf, userSays } from './model-calls.ts'

const key = 'sk-very-secret'

interface Started {
  readonly provider: ModelProvider
  readonly server: LoopbackServer | undefined
}

interface Adapter {
  readonly adapter: string
  /** The name under which thinking is kept. */
  readonly provider: string
  readonly start: (handler: Handler) => Promise<Started>
}

const servers: LoopbackServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))

function wire(
  adapter: string,
  provider: string,
  listen: (handler: Handler) => Promise<LoopbackServer>,
  make: (baseURL: string) => ModelProvider,
): Adapter {
  const start = async (handler: Handler): Promise<Started> => {
    const server = await listen(handler)
    servers.push(server)
    return { provider: make(server.url), server }
  }
  return { adapter, provider, start }
}

const wired: readonly Adapter[] = [
  wire('anthropic', 'anthropic', startAnthropicServer, (baseURL) => anthropic({ baseURL, apiKey: key })),
  wire('openai', 'openai', startResponsesServer, (baseURL) => openai({ baseURL, apiKey: key })),
  wire('openaiCompatible', 'local', startChatServer, (baseURL) =>
    openaiCompatible({ name: 'local', baseURL, apiKey: key }),
  ),
]

const all: readonly Adapter[] = [
  ...wired,
  {
    adapter: 'scripted',
    provider: 'scripted',
    start: async (handler) => {
      const provider = scripted((request, { signal }) => script(handler, JSON.stringify(request.messages), signal))
      return { provider, server: undefined }
    },
  },
]

/** What a server would answer, as a script. */
async function script(handler: Handler, text: string, signal: AbortSignal): Promise<ScriptedReply> {
  const answer = await handler({ path: '', headers: {}, text, body: {}, closed: Promise.resolve() })
  if (answer === 'silence')
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('It was cancelled.'))))
  if ('failure' in answer) return fail('internal')
  if ('raw' in answer) throw new Error('A script has no stream.')
  if (answer.refusal !== undefined) return fail('refused', { message: answer.refusal })
  const { thinking, toolCalls, usage, stopsAtLimit } = answer
  return {
    text: answer.text,
    thinking: thinking?.text,
    toolCalls,
    usage,
    ...(stopsAtLimit === true && { stop: 'max-tokens' }),
  }
}

function answers(start: Adapter['start'], ...given: readonly Answer[]): Promise<Started> {
  return start(inTurn(...given))
}

const add = { id: 'call_1', name: 'add', arguments: '{"a":2,"b":3}' }

describe.each(all)('a model behind $adapter', ({ provider: name, start }) => {
  it('answers with text, and streams the same text before', async () => {
    const { provider } = await answers(start, { text: 'Hello, world.' })
    const { outcome, deltas } = await call(provider)
    expect(outcome).toMatchObject({
      ok: true,
      value: { message: { role: 'assistant', content: [{ type: 'text', text: 'Hello, world.' }] }, stop: 'end' },
    })
    expect(joined(deltas, 'text')).toBe('Hello, world.')
    expect(deltas.length).toBeGreaterThan(1)
  })

  it('says which model wrote the message', async () => {
    const { provider } = await answers(start, { text: 'Hi.' })
    const { message } = await replyOf(provider)
    expect(message.model).toMatch(/^(\w+\/)?small$/)
  })

  it('calls a tool', async () => {
    const { provider } = await answers(start, { toolCalls: [add] })
    const { outcome, deltas } = await call(provider)
    expect(outcome).toMatchObject({
      value: {
        message: { content: [{ type: 'tool-call', id: 'call_1', name: 'add', arguments: { a: 2, b: 3 } }] },
        stop: 'tool-calls',
      },
    })
    expect(deltas[0]).toEqual({ type: 'tool-call', id: 'call_1', name: 'add' })
    expect(joined(deltas, 'tool-arguments')).toBe('{"a":2,"b":3}')
  })

  it('calls several tools beside its text, in its own order', async () => {
    const more = { id: 'call_2', name: 'multiply', arguments: '{"a":4,"b":5}' }
    const { provider } = await answers(start, { text: 'Let me see.', toolCalls: [add, more] })
    const { outcome, deltas } = await call(provider)
    expect(outcome).toMatchObject({
      value: {
        message: {
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool-call', id: 'call_1', name: 'add' },
            { type: 'tool-call', id: 'call_2', name: 'multiply', arguments: { a: 4, b: 5 } },
          ],
        },
      },
    })
    const ofSecond = deltas.filter((delta) => delta.type === 'tool-arguments' && delta.id === 'call_2')
    expect(joined(ofSecond, 'tool-arguments')).toBe('{"a":4,"b":5}')
  })

  it('calls a tool without arguments', async () => {
    const { provider } = await answers(start, { toolCalls: [{ ...add, arguments: '' }] })
    const { message } = await replyOf(provider)
    expect(message.content).toEqual([{ type: 'tool-call', id: 'call_1', name: 'add', arguments: {} }])
  })

  it.each(['{"a":2,', '[2,3]', 'null', '"two"'])(
    'has its malformed arguments kept as it wrote them: %s',
    async (raw) => {
      const { provider } = await answers(start, { toolCalls: [{ ...add, arguments: raw }] })
      const { message } = await replyOf(provider)
      expect(message.content).toEqual([{ type: 'tool-call', id: 'call_1', name: 'add', arguments: {}, malformed: raw }])
    },
  )

  it('thinks before it answers', async () => {
    const { provider } = await answers(start, { thinking: { text: 'Two and three.', seal: 'seal' }, text: 'Five.' })
    const { outcome, deltas } = await call(provider)
    expect(outcome).toMatchObject({
      value: {
        message: {
          content: [
            { type: 'thinking', provider: name, text: 'Two and three.' },
            { type: 'text', text: 'Five.' },
          ],
        },
      },
    })
    expect(joined(deltas, 'thinking')).toBe('Two and three.')
    expect(deltas.findLastIndex(({ type }) => type === 'thinking')).toBeLessThan(
      deltas.findIndex(({ type }) => type === 'text'),
    )
  })

  it('stops at its output limit', async () => {
    const { provider } = await answers(start, { text: 'Once upon a', stopsAtLimit: true })
    const { stop, message } = await replyOf(provider)
    expect(stop).toBe('max-tokens')
    expect(message.content).toEqual([expect.objectContaining({ text: 'Once upon a' })])
  })

  it('uses tokens that are counted once each', async () => {
    const usage = { input: 10, cacheRead: 200, cacheWrite: 30, output: 7 }
    const { provider } = await answers(start, { text: 'Hi.', usage })
    expect((await replyOf(provider)).usage).toEqual(usage)
  })

  it('leaves unknown what it does not say about its tokens', async () => {
    const { provider } = await answers(start, { text: 'Hi.' }, { text: 'Hi.', usage: { input: 10, output: 7 } })
    expect((await replyOf(provider)).usage).toEqual({})
    expect((await replyOf(provider)).usage).toEqual({ input: 10, output: 7 })
  })

  it('refuses to answer', async () => {
    const { provider } = await answers(start, { refusal: 'I cannot help with that.' })
    const failure = await failureOf(provider)
    expect(failure.kind).toBe('refused')
    expect(failure.message).toContain('I cannot help with that.')
  })

  it('writes any character, however its bytes arrive', async () => {
    const text = 'Zürich, 東京, 👩‍👩‍👧‍👦, \u0000 and "\\"'
    const reply: Reply = { text, toolCalls: [{ ...add, arguments: JSON.stringify({ text }) }], byteByByte: true }
    const { provider } = await answers(start, reply)
    const { outcome, deltas } = await call(provider)
    expect(outcome).toMatchObject({
      value: { message: { content: [{ text }, { type: 'tool-call', arguments: { text } }] } },
    })
    expect(joined(deltas, 'text')).toBe(text)
  })

  it('is cancelled while it has said nothing', async () => {
    const arrived = Promise.withResolvers<void>()
    const { provider, server } = await start(() => {
      arrived.resolve()
      return 'silence'
    })
    const cancel = new AbortController()
    const calling = call(provider, requestOf(), { signal: cancel.signal })
    await arrived.promise
    cancel.abort()
    expect((await calling).outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } })
    await server?.requests[0]?.closed
  })

  it('that is cancelled before the call is not asked at all', async () => {
    let asked = 0
    const { provider } = await start(() => {
      asked++
      return { text: 'Hi.' }
    })
    const { outcome } = await call(provider, requestOf(), { signal: AbortSignal.abort() })
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } })
    expect(asked).toBe(0)
  })

  it('answers many calls at once, each its own', async () => {
    const { provider } = await start(({ text }) => ({ text: /Question \d+/.exec(text)?.[0] ?? 'Question' }))
    const texts = Array.from({ length: 20 }, (_, index) => `Question ${index}`)
    const replies = await Promise.all(texts.map((text) => replyOf(provider, requestOf([userSays(text)]))))
    expect(replies.map(({ message }) => message.content[0])).toMatchObject(texts.map((text) => ({ text })))
  })

  it('has no say in what a listener throws', async () => {
    const { provider } = await answers(start, { text: 'Hello.' })
    const onDelta = (): never => {
      throw new TypeError('The listener is broken.')
    }
    await expect(call(provider, requestOf(), { onDelta })).rejects.toThrow('The listener is broken.')
  })
})

describe.each(wired)('a provider behind $adapter', ({ provider: name, start }) => {
  it.each([
    [{ failure: 'unauthorized' }, 'unauthorized'],
    [{ failure: 'invalid-request' }, 'invalid-request'],
    [{ failure: 'context-overflow' }, 'context-overflow'],
    [{ failure: 'too-large' }, 'context-overflow'],
    [{ failure: 'rate-limited' }, 'rate-limited'],
    [{ failure: 'quota-spent' }, 'unauthorized'],
    [{ failure: 'overloaded' }, 'overloaded'],
    [{ failure: 'bad-gateway' }, 'overloaded'],
  ] as const)('that answers %o is asked once and fails as %s', async (answer, kind) => {
    const { provider, server } = await answers(start, answer)
    const failure = await failureOf(provider)
    expect(failure.kind).toBe(kind)
    expect(server?.requests).toHaveLength(1)
  })

  it('has its own words in the failure, but never the key', async () => {
    const { provider } = await answers(start, { failure: 'unauthorized', message: `The key ${key} is wrong.` })
    const { message } = await failureOf(provider)
    expect(message).toContain(`${name} failed (401`)
    expect(message).toContain('The key [key] is wrong.')
  })

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:27:00 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'NaN', 'retry-after-ms': 'NaN' }, undefined],
    [{ 'retry-after-ms': '-1', 'retry-after': '7' }, 7_000],
    [{ 'retry-after': 'Infinity' }, Number.MAX_SAFE_INTEGER],
    [{ 'retry-after-ms': 'Infinity' }, Number.MAX_SAFE_INTEGER],
    [{ 'retry-after': '9'.repeat(400) }, Number.MAX_SAFE_INTEGER],
    [{ 'retry-after-ms': '9'.repeat(400) }, Number.MAX_SAFE_INTEGER],
    [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 251_609_733_119_000],
    [{}, undefined],
  ])('that is rate limited with %o asks for %s ms of rest', async (headers, retryAfterMs) => {
    const { provider } = await answers(start, { failure: 'rate-limited', headers })
    expect((await failureOf(provider)).retryAfterMs).toBe(retryAfterMs)
  })

  it.each(['broken', 'early'] as const)('whose stream ends %s fails as truncated', async (ends) => {
    const { provider } = await answers(start, { text: 'Half of the', ends })
    const failure = await failureOf(provider)
    expect(failure.kind).toBe('truncated')
    expect(failure.message).toContain(name)
  })

  it.each(['overloaded', 'rate-limited', 'context-overflow'] as const)(
    'that breaks off with an error event fails as %s',
    async (error) => {
      const { provider } = await answers(start, { text: 'Half of the', ends: { error } })
      expect((await failureOf(provider)).kind).toBe(error)
    },
  )

  it('that falls silent in mid-answer is let go when the call is cancelled', async () => {
    const { provider, server } = await answers(start, { text: 'Half of the', ends: 'silent' })
    const cancel = new AbortController()
    const { outcome } = await call(provider, requestOf(), { signal: cancel.signal, onDelta: () => cancel.abort() })
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled' } })
    await server?.requests[0]?.closed
  })

  it('that nobody serves any more fails as overloaded, and says where nobody was', async () => {
    const { provider, server } = await answers(start)
    await server?.close()
    const failure = await failureOf(provider)
    expect(failure.kind).toBe('overloaded')
    expect(failure.message).toMatch(/could not be reached: .*127\.0\.0\.1:\d+/)
  })

  it('is tried again after a failure without a trace of it', async () => {
    const { provider } = await answers(start, { failure: 'overloaded' }, { text: 'Here I am.' })
    await failureOf(provider)
    expect((await replyOf(provider)).message.content).toMatchObject([{ text: 'Here I am.' }])
  })

  it('has each message converted once, however many steps it goes along with', async () => {
    const { provider } = await start(() => ({ text: 'Fine.' }))
    let read = 0
    const message: Message = {
      role: 'user',
      get content() {
        read++
        return [{ type: 'text', text: 'Hello' } as const]
      },
    }
    await replyOf(provider, requestOf([message]))
    const once = read
    await replyOf(provider, requestOf([message, userSays('Go on.')]))
    expect(read).toBe(once)
  })

  it('lists its models', async () => {
    const { provider } = await answers(start)
    expect(await provider.models?.()).toEqual(['small', 'large'])
  })
})
