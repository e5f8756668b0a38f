import { fail, scripted } from 'entia'
import { describe, expect, it } from 'vitest'
import { call, failureOf, joined, replyOf, requestOf, userSays } from './model-calls.ts'

/** How long a call says that it takes. */
async function latencyOf(latencyMs: number | readonly [number, number], text: string, attempt = 1): Promise<number> {
  let waitedMs = 0
  const sleep = (durationMs: number): Promise<void> => {
    waitedMs += durationMs
    return Promise.resolve()
  }
  await call(
    scripted(() => 'Hi.', { latencyMs }),
    requestOf([userSays(text)]),
    { sleep, attempt },
  )
  return waitedMs
}

describe('a scripted model', () => {
  it('answers as a function of the request', async () => {
    const echo = scripted(({ messages }) => `I have read ${messages.length} messages.`)
    const { message } = await replyOf(echo, requestOf([userSays('One'), userSays('Two')]))
    expect(message).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'I have read 2 messages.' }],
      model: 'small',
    })
  })

  it('gives its calls ids that follow from where they stand', async () => {
    const caller = scripted(() => ({ toolCalls: [{ name: 'add' }, { name: 'add', arguments: { a: 1 }, id: 'mine' }] }))
    const { message, stop } = await replyOf(caller, requestOf([userSays('One'), userSays('Two')]))
    expect(message.content).toEqual([
      { type: 'tool-call', id: 'call-2-0', name: 'add', arguments: {} },
      { type: 'tool-call', id: 'mine', name: 'add', arguments: { a: 1 } },
    ])
    expect(stop).toBe('tool-calls')
  })

  it('fails as its script says, and is not tried again unless it says so', async () => {
    const failing = scripted(() => fail('rate-limited', { message: 'Slow down.', retryAfterMs: 500 }))
    expect(await failureOf(failing)).toEqual({ kind: 'rate-limited', message: 'Slow down.', retryAfterMs: 500 })
    expect(failing.retry).toBe(false)
  })

  it('knows which attempt it is', async () => {
    const flaky = scripted((_, { attempt }) => (attempt < 3 ? fail('overloaded') : 'At last.'))
    expect((await call(flaky, undefined, { attempt: 2 })).outcome.ok).toBe(false)
    expect((await call(flaky, undefined, { attempt: 3 })).outcome.ok).toBe(true)
  })

  it('takes its time on the clock that it is given', async () => {
    expect(await latencyOf(20, 'Hello')).toBe(20)
    expect(await latencyOf(0, 'Hello')).toBe(0)
  })

  it('draws its time from the request, so that the same request takes the same', async () => {
    const range = [50, 4_000] as const
    const times = await Promise.all(Array.from({ length: 50 }, (_, index) => latencyOf(range, `Question ${index}`)))
    expect(await latencyOf(range, 'Question 7')).toBe(times[7])
    expect(await latencyOf(range, 'Question 7', 2)).not.toBe(times[7])
    expect(Math.min(...times)).toBeGreaterThanOrEqual(50)
    expect(Math.max(...times)).toBeLessThanOrEqual(4_000)
    expect(new Set(times).size).toBeGreaterThan(40)
  })

  it('is refused where it is made if it has no behaviour, or takes a time that cannot be', () => {
    expect(() => scripted('Hi.' as never)).toThrow("scripted() must get a function of the request, got 'Hi.'.")
    for (const latencyMs of [Number.NaN, -5, '20' as never, [9, 1], [1] as never, null as never] as const) {
      expect(() => scripted(() => 'Hi.', { latencyMs })).toThrow(
        'scripted(): latencyMs must be a number of milliseconds',
      )
    }
    expect(() => scripted(() => 'Hi.', { latencyMs: [0.5, 0.5] })).not.toThrow()
  })

  it('is cancelled while it takes its time', async () => {
    const cancel = new AbortController()
    const sleep = (): Promise<void> => {
      cancel.abort()
      return Promise.reject(new Error('It was cancelled.'))
    }
    const { outcome } = await call(
      scripted(() => 'Hi.', { latencyMs: 20 }),
      undefined,
      { signal: cancel.signal, sleep },
    )
    expect(outcome).toMatchObject({ failure: { kind: 'cancelled' } })
  })

  it('costs what it is told to', async () => {
    const usage = { input: 3, output: 1 }
    expect((await replyOf(scripted(() => 'Hi.', { usage }))).usage).toEqual(usage)
    const counted = scripted(() => 'Hi.', { usage: ({ messages }) => ({ input: messages.length }) })
    expect((await replyOf(counted)).usage).toEqual({ input: 1 })
    const own = scripted(() => ({ text: 'Hi.', usage: { output: 9 } }), { usage })
    expect((await replyOf(own)).usage).toEqual({ output: 9 })
  })

  it('streams its thinking, then its text, then its calls, and never half a character', async () => {
    const text = '👩‍👩‍👧‍👦👍🏽 Fine'
    const { deltas } = await call(scripted(() => ({ text, thinking: 'Hm, well.', toolCalls: [{ name: 'add' }] })))
    const order = [...new Set(deltas.map(({ type }) => type))]
    expect(order).toEqual(['thinking', 'text', 'tool-call', 'tool-arguments'])
    expect(joined(deltas, 'text')).toBe(text)
    expect(deltas.every((delta) => delta.type === 'tool-call' || delta.text.isWellFormed())).toBe(true)
  })

  it('is silent before its answer when it is not to stream', async () => {
    const { deltas } = await call(scripted(() => 'Hi.', { stream: false }))
    expect(deltas).toEqual([])
  })

  it('whose behaviour throws fails as internal, naming what it threw', async () => {
    const broken = scripted(() => {
      throw new TypeError('no such note')
    })
    const failure = await failureOf(broken)
    expect(failure).toMatchObject({ kind: 'internal', message: expect.stringContaining('TypeError: no such note') })
  })

  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [42, '42'],
    [{ test: 'Hi.' }, '"test"'],
    [{ toolCalls: [{ tool: 'add' }] }, '{"tool":"add"}'],
  ])('whose behaviour answers with %o fails as internal, naming it', async (reply, named) => {
    const failure = await failureOf(scripted(() => reply as never))
    expect(failure).toMatchObject({ kind: 'internal', message: expect.stringContaining(named) })
  })

  it('has the settings that it is said to have', () => {
    expect(scripted(() => 'Hi.', { settings: { seed: 7 } }).settings).toEqual({ seed: 7 })
    expect(scripted(() => 'Hi.').settings).toBeUndefined()
  })

  it('with an option that nobody knows is refused when it is made', () => {
    expect(() => scripted(() => 'Hi.', { stream: true, ...{ latency: 20 } })).toThrow(
      /unknown option latency\. Known: .*latencyMs/,
    )
  })
})
