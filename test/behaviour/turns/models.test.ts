import { fail, LastTurn, Llm, type ModelProvider, Usage, VirtualClock } from 'entia'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { behaving, driven, gate, settled, turns, worldWith } from './driving.ts'

/** How the turn of an agent ends whose model does this. */
async function endWith(call: ModelProvider['call'], timeoutMs = 1_000) {
  const { world, agent } = worldWith()
  world.set(agent, Llm, { model: 'scripted/x', retry: false, timeoutMs })
  const { told } = await settled(world, { models: { scripted: { call } } })
  return { world, agent, told, end: world.read(agent, LastTurn) }
}

const hi = { role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Hi' }] }

describe('a provider', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'Hi'],
    ['no value', { ok: true }],
    ['no message', { ok: true, value: { stop: 'end', usage: {} } }],
    [
      'blocks that there are not',
      { ok: true, value: { message: { ...hi, content: [{ type: 'song' }] }, stop: 'end', usage: {} } },
    ],
    ['no usage', { ok: true, value: { message: hi, stop: 'end' } }],
    ['no failure', { ok: false }],
    ['a failure of no known kind', { ok: false, failure: { kind: 'bad-luck', message: '?' } }],
    [
      'what is no JSON',
      {
        ok: true,
        value: { message: { ...hi, content: [{ type: 'text', text: () => 'Hi' }] }, stop: 'end', usage: {} },
      },
    ],
  ])('that answers with %s fails the turn as internal, and nothing else', async (_, answer) => {
    const { end, world, agent } = await endWith(async () => answer as never)
    expect(end).toMatchObject({ stop: 'failed', failure: { kind: 'internal' } })
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: [turn failed: internal]'])
  })

  it('whose counts can be none keeps its reply: they are unknown, and told', async () => {
    const usage = { input: -1, cacheRead: Number.NaN, cacheWrite: '7', output: 2.5 } as never
    const { end, told, agent, world } = await endWith(async () => ({
      ok: true,
      value: { message: hi, stop: 'end', usage: { ...(usage as object), cacheWrite1h: 3 } },
    }))
    expect(end.stop).toBe('done')
    expect(world.read(agent, Usage)).toEqual({ calls: 1, cacheWrite1h: 3 })
    expect(told('usage-dropped')).toMatchObject([
      { agent, model: 'scripted/x', counts: { input: '-1', cacheRead: 'NaN', cacheWrite: '"7"', output: '2.5' } },
    ])
  })

  it.each<[string, () => never]>([
    [
      'an error',
      () => {
        throw new Error('out of order')
      },
    ],
    [
      'a text',
      () => {
        throw 'out of order' as unknown
      },
    ],
  ])('that throws %s fails the turn as internal', async (_, call) => {
    const { end } = await endWith(call)
    expect(end.failure).toMatchObject({ kind: 'internal', message: expect.stringContaining('out of order') as string })
  })

  it('that does not answer in time is given up, and its signal aborts', async () => {
    const aborted = gate<unknown>()
    const call: ModelProvider['call'] = async (_, { signal, sleep }) => {
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      return sleep(1e9) as never
    }
    const { end, world } = await endWith(call, 700)
    expect(end.failure).toEqual({ kind: 'timed-out', message: 'The model effect did not end within 700 ms.' })
    expect(world.nowMs).toBe(700)
    expect(await aborted.promise).toMatchObject({ name: 'AbortError' })
  })

  it('that is unknown when it is called fails the turn by name', async () => {
    const { world, agent } = worldWith({ messages: [] })
    const { runner } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.change((world) => world.patch(agent, Llm, { model: 'nobody/x' }))
    await runner.message(agent, 'Go')
    await runner.idle()
    const { failure } = world.read(agent, LastTurn)
    expect(failure).toMatchObject({
      kind: 'internal',
      message: expect.stringContaining("no model provider 'nobody'") as string,
    })
  })
})

describe('what a model streams', () => {
  it('reaches listeners before any commit, numbered by try, and a failed try is voided', async () => {
    const { world, agent } = worldWith()
    const retry = { maxAttempts: 2, firstDelayMs: 10, maxDelayMs: 10, kinds: ['truncated' as const] }
    const call: ModelProvider['call'] = async (_, { attempt, onDelta }) => {
      onDelta({ type: 'text', text: 'H' })
      if (attempt === 1) return { ok: false, failure: { kind: 'truncated', message: 'cut' } }
      onDelta({ type: 'text', text: 'i' })
      return { ok: true, value: { message: hi, stop: 'end', usage: {} } }
    }
    const { events } = await settled(world, { models: { scripted: { call, retry } } })
    const stream = events.filter(({ type }) => type.startsWith('model-d') || type === 'retry-scheduled')
    const place = { world: 'world', agent, effect: expect.any(Number) as number }
    expect(stream).toMatchObject([
      { type: 'model-delta', ...place, attempt: 1, index: 0, delta: { type: 'text', text: 'H' } },
      { type: 'model-discarded', ...place, attempt: 1 },
      expect.objectContaining({ type: 'retry-scheduled', attempt: 2 }),
      { type: 'model-delta', ...place, attempt: 2, index: 0, delta: { type: 'text', text: 'H' } },
      { type: 'model-delta', ...place, attempt: 2, index: 1, delta: { type: 'text', text: 'i' } },
    ])
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
  })

  it.each<[string, unknown]>([
    ['answers all the same', { ok: true, value: { message: hi, stop: 'end', usage: {} } }],
    ['fails', { ok: false, failure: { kind: 'cancelled', message: 'stopped' } }],
  ])('is voided when it is cancelled and then %s', async (_, outcome) => {
    const [begun, end] = [gate(), gate()]
    const { world, agent } = worldWith()
    const call: ModelProvider['call'] = async (_request, { onDelta }) => {
      onDelta({ type: 'text', text: 'H' })
      begun.resolve()
      await end.promise
      onDelta({ type: 'text', text: 'too late' })
      return outcome as never
    }
    const { runner, told } = driven(world, { models: { scripted: { call } }, clock: new VirtualClock({ auto: false }) })
    await runner.start()
    await begun.promise
    await runner.cancel(agent)
    end.resolve()
    await turns()
    expect(told('model-delta')).toHaveLength(1)
    expect(told('model-discarded')).toHaveLength(1)
    expect(runner.stats.dropped).toBe(1)
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: [turn cancelled]'])
  })
})

describe('a failed call', () => {
  it('that is tried no more ends the turn with what the provider said, and the next turn is a new one', async () => {
    const { world, agent } = worldWith()
    const { models } = behaving(({ messages }) =>
      messages.length === 1 ? fail('refused', { message: 'I will not.' }) : 'Hi',
    )
    const { runner, told } = driven(world, { models })
    await runner.start()
    await runner.idle()
    expect(world.read(agent, LastTurn).failure).toEqual({ kind: 'refused', message: 'I will not.' })
    await runner.message(agent, 'Please')
    await runner.idle()
    expect(transcript(world, agent)).toEqual([
      'user: Go',
      'assistant: [turn failed: refused]',
      'user: Please',
      'assistant: Hi',
    ])
    expect(told('model-failed')).toHaveLength(1)
  })
})
