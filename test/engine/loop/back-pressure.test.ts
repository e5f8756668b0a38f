import {
  type Entity,
  fail,
  Host,
  LastTurn,
  memoryStore,
  type ScriptedBehaviour,
  scripted,
  user,
  VirtualClock,
} from 'entia'
import { describe, expect, it } from 'vitest'
import { addAgent, driven, emptyWorld, settled, worldWith } from '../../behaviour/turns/driving.ts'
import { watchedStore } from '../../behaviour/stores/watched-store.ts'

const retry = { maxAttempts: 3, firstDelayMs: 100, maxDelayMs: 100, kinds: ['rate-limited' as const] }

/** Agents of one provider, told their own number. */
function crowd(count: number) {
  const world = emptyWorld()
  const agents = Array.from({ length: count }, (_, index) => addAgent(world, { messages: [user(`${index}`)] }))
  return { world, agents }
}

/** Notes, on the world's clock, when each call begins and which try it is. */
function noting(clock: VirtualClock, behaviour: ScriptedBehaviour) {
  const begun: { at: number; text: string; attempt: number }[] = []
  const noted: ScriptedBehaviour = (request, context) => {
    const block = request.messages.at(-1)?.content[0]
    begun.push({ at: clock.now(), text: block?.type === 'text' ? block.text : '', attempt: context.attempt })
    return behaviour(request, context)
  }
  return { begun, noted }
}

const refusingFirst: (clock: VirtualClock, retryAfterMs: number) => ScriptedBehaviour = (clock, retryAfterMs) => {
  let refused = 0
  return () => (refused++ === 0 ? fail('rate-limited', { retryAfterMs }) : `Hi at ${clock.now()}`)
}

describe('a provider that asks to be left alone', () => {
  it('may be let go on while a call that waits for it is being taken back', async () => {
    const clock = new VirtualClock()
    const { world, agents } = crowd(2)
    let isFull = false
    const store = watchedStore(memoryStore(), {
      before(ticks) {
        if (!isFull || !ticks.some(({ inputs }) => inputs.some(({ kind }) => kind === 'cancel'))) return
        isFull = false
        throw new Error('The disk is full.')
      },
    })
    const { begun, noted } = noting(clock, refusingFirst(clock, 5_000))
    const models = { scripted: scripted(noted, { retry, latencyMs: 10 }) }
    const { runner, told } = driven(world, { clock, models, store, maxInFlightPerProvider: 1 })
    runner.on('provider-held', () => {
      isFull = true
      // The commit is tried again later than the provider may be called again.
      clock.at(5_000, () => void runner.cancel(agents[1] as Entity))
    })
    await runner.start()
    await runner.idle()
    expect(told('commit-failed')).toHaveLength(1)
    // As long as the cancel is not durable, the call is to be made.
    expect(begun.map(({ text, attempt }) => `${text}.${attempt}`)).toEqual(['0.1', '1.1', '0.2'])
    expect(agents.map((agent) => world.read(agent, LastTurn).stop)).toEqual(['done', 'cancelled'])
    await runner.stop()
  })

  it.each<[string, number, number, number | undefined]>([
    ['an hour', 3_600_000, 3_600, undefined],
    ['Infinity', Infinity, Number.MAX_SAFE_INTEGER / 1_000, undefined],
    ['more than its policy allows', 5_001, 5.001, 5_000],
  ])('for %s is not held: the call fails with what it said, and others are made at once', async (...row) => {
    const [, retryAfterMs, seconds, maxRetryAfterMs] = row
    const clock = new VirtualClock()
    const { world, agents } = crowd(2)
    const { begun, noted } = noting(clock, refusingFirst(clock, retryAfterMs))
    const model = scripted(noted, { retry: { ...retry, maxRetryAfterMs }, latencyMs: 10 })
    const { told } = await settled(world, { clock, models: { scripted: model }, maxInFlightPerProvider: 1 })
    expect(told('provider-held')).toEqual([])
    expect(begun.map(({ text, attempt, at }) => `${text}.${attempt} at ${at}`)).toEqual(['0.1 at 10', '1.1 at 20'])
    expect(agents.map((agent) => world.read(agent, LastTurn).stop)).toEqual(['failed', 'done'])
    const { failure } = world.read(agents[0] as Entity, LastTurn)
    expect(failure).toEqual({
      kind: 'rate-limited',
      isFinal: true,
      message:
        `The script says rate-limited. It asks for a wait of ${seconds} s; the longest that is waited for is ` +
        `${(maxRetryAfterMs ?? 600_000) / 1_000} s (maxRetryAfterMs of the retry policy), so the call is not tried again.`,
      retryAfterMs: Math.min(retryAfterMs, Number.MAX_SAFE_INTEGER),
    })
  })

  it.each([-5, NaN])('for %s milliseconds means nothing by it', async (retryAfterMs) => {
    const clock = new VirtualClock()
    const { world, agents } = crowd(1)
    const { noted } = noting(clock, refusingFirst(clock, retryAfterMs))
    const { told } = await settled(world, { clock, models: { scripted: scripted(noted, { retry, latencyMs: 10 }) } })
    expect(told('provider-held')).toEqual([])
    expect(world.read(agents[0] as Entity, LastTurn).stop).toBe('done')
  })

  it('is called by nobody until then; calls that wait use up no try', async () => {
    const clock = new VirtualClock()
    const { world, agents } = crowd(5)
    const { begun, noted } = noting(clock, refusingFirst(clock, 9_000))
    const options = { retry, latencyMs: 10 }
    const model = scripted(noted, options)
    const { told } = await settled(world, { clock, models: { scripted: model }, maxInFlightPerProvider: 2 })
    // Two were at work; the second ends well, and nobody begins before the nine seconds are over.
    expect(begun.slice(0, 2).map(({ at }) => at)).toEqual([10, 10])
    expect(begun.slice(2).every(({ at }) => at >= 9_010)).toBe(true)
    expect(begun.map(({ text, attempt }) => `${text}.${attempt}`).toSorted()).toEqual([
      '0.1',
      '0.2',
      '1.1',
      '2.1',
      '3.1',
      '4.1',
    ])
    expect(agents.map((agent) => world.read(agent, LastTurn).stop)).toEqual(Array(5).fill('done'))
    expect(told('provider-held')).toMatchObject([
      { type: 'provider-held', world: 'world', provider: 'scripted', untilMs: 9_010 },
    ])
  })

  it('is left alone as well by calls that had no queue of its own to wait in', async () => {
    const clock = new VirtualClock()
    const { world } = crowd(4)
    const { begun, noted } = noting(clock, refusingFirst(clock, 5_000))
    await settled(world, { clock, models: { scripted: scripted(noted, { retry }) }, maxInFlight: 1 })
    expect(begun.map(({ at }) => at >= 5_000)).toEqual([false, true, true, true, true])
  })

  it('is left alone longest by the longest it asked for', async () => {
    const clock = new VirtualClock()
    const { world, agents } = crowd(2)
    let calls = 0
    const behaviour: ScriptedBehaviour = () => {
      calls++
      return calls > 2 ? 'Hi' : fail('rate-limited', { retryAfterMs: calls === 1 ? 8_000 : 50 })
    }
    const { begun, noted } = noting(clock, behaviour)
    await settled(world, { clock, models: { scripted: scripted(noted, { retry }) } })
    expect(begun.slice(2).every(({ at }) => at >= 8_000)).toBe(true)
    expect(agents.every((agent) => world.read(agent, LastTurn).stop === 'done')).toBe(true)
  })

  it('holds up no other provider', async () => {
    const clock = new VirtualClock()
    const { world } = crowd(1)
    const other = addAgent(world, { model: 'other/x' })
    const models = {
      scripted: scripted(refusingFirst(clock, 60_000), { retry }),
      other: scripted(() => 'Hi', { latencyMs: 20 }),
    }
    const { runner } = driven(world, { clock, models })
    const ends: [Entity, number][] = []
    runner.on('turn-ended', ({ agent }) => void ends.push([agent, clock.now()]))
    await runner.start()
    await runner.idle()
    expect(ends[0]).toEqual([other, 20])
    expect(ends[1]?.[1]).toBeGreaterThanOrEqual(60_000)
  })

  it('is left alone by every world on its host', async () => {
    const clock = new VirtualClock()
    const { begun, noted } = noting(clock, refusingFirst(clock, 7_000))
    const host = new Host({ clock, models: { scripted: scripted(noted, { retry }) } })
    const [first, second] = [worldWith({}, 'first'), worldWith({ messages: [] }, 'second')]
    const [one, two] = [driven(first.world, { host }), driven(second.world, { host })]
    const held = one.next('provider-held')
    await Promise.all([one.runner.start(), two.runner.start()])
    await held
    await two.runner.message(second.agent, 'Go')
    await Promise.all([one.runner.idle(), two.runner.idle()])
    expect(begun.map(({ at }) => at >= 7_000)).toEqual([false, true, true])
  })
})

describe('calls that failed together', () => {
  it('come back one by one', async () => {
    const clock = new VirtualClock()
    const { world } = crowd(20)
    const { begun, noted } = noting(clock, (_, { attempt }) => (attempt === 1 ? fail('rate-limited') : 'Hi'))
    await settled(world, {
      clock,
      models: { scripted: scripted(noted, { retry: { ...retry, firstDelayMs: 1_000, maxDelayMs: 1_000 } }) },
    })
    const again = begun.filter(({ attempt }) => attempt === 2).map(({ at }) => at)
    expect(new Set(again).size).toBeGreaterThan(10)
    expect(Math.min(...again)).toBeGreaterThan(1_000)
    expect(Math.max(...again)).toBeLessThanOrEqual(1_250)
  })
})

describe('a limit', () => {
  async function mostAtOnce(count: number, options: object): Promise<Record<string, number>> {
    const world = emptyWorld()
    const most: Record<string, number> = {}
    const now: Record<string, number> = { all: 0 }
    const provider = (name: string) => ({
      call: async (_: unknown, { sleep }: { sleep: (durationMs: number) => Promise<void> }) => {
        for (const key of [name, 'all']) most[key] = Math.max(most[key] ?? 0, (now[key] = (now[key] ?? 0) + 1))
        await sleep(10)
        for (const key of [name, 'all']) now[key] = (now[key] ?? 0) - 1
        const content = [{ type: 'text' as const, text: 'Hi' }]
        return {
          ok: true as const,
          value: { message: { role: 'assistant' as const, content }, stop: 'end' as const, usage: {} },
        }
      },
    })
    const agents = Array.from({ length: count }, (_, index) =>
      addAgent(world, { model: index % 2 === 0 ? 'a/x' : 'b/x' }),
    )
    await settled(world, { models: { a: provider('a'), b: provider('b') }, ...options })
    expect(agents.every((agent) => world.read(agent, LastTurn).stop === 'done')).toBe(true)
    return most
  }

  it('of a provider is never passed', async () => {
    expect(await mostAtOnce(20, { maxInFlightPerProvider: 3 })).toEqual({ a: 3, b: 3, all: 6 })
    expect(await mostAtOnce(20, { maxInFlightPerProvider: { a: 2 } })).toEqual({ a: 2, b: 10, all: 12 })
  })

  it('in all is never passed', async () => {
    expect((await mostAtOnce(20, { maxInFlight: 4 })).all).toBe(4)
    expect((await mostAtOnce(20, { maxInFlight: 4, maxInFlightPerProvider: 3 })).all).toBe(4)
  })

  it.each([[0], [-1], [1.5], [Number.NaN]])('of %s is refused', async (limit) => {
    expect(() => new Host({ maxInFlight: limit })).toThrow(/maxInFlight must be an integer ≥ 1/)
    expect(() => new Host({ maxInFlightPerProvider: limit })).toThrow(
      /maxInFlightPerProvider \(each\) must be an integer ≥ 1/,
    )
    expect(() => new Host({ maxInFlightPerProvider: { a: limit } })).toThrow(
      /maxInFlightPerProvider \(a\) must be an integer ≥ 1/,
    )
  })
})
