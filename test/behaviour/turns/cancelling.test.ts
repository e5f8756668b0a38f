import { fail, LastTurn, type ModelProvider, type ToolContext } from 'entia'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { addAgent, behaving, calling, driven, gate, turns, worldWith } from './driving.ts'
import { tool } from './tools.ts'

/** Work that waits for its signal alone. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
}

describe('an agent that is cancelled', () => {
  it('while its model thinks has the call aborted once the end of its turn is committed', async () => {
    const { world, agent } = worldWith()
    const [begun, aborted] = [gate(), gate<unknown>()]
    const call: ModelProvider['call'] = (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.resolve(world.get(agent, LastTurn)?.stop))
      begun.resolve()
      return untilAborted(signal)
    }
    const { runner } = driven(world, { models: { scripted: { call } } })
    await runner.start()
    await begun.promise
    await runner.cancel(agent, 'enough')
    expect(await aborted.promise).toBe('cancelled')
    await runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: [turn cancelled]'])
    expect(world.read(agent, LastTurn).failure).toEqual({ kind: 'cancelled', message: 'enough' })
  })

  it('while tools run has each of them aborted, tells which may have taken effect, and works on when spoken to', async () => {
    const begun: string[] = []
    const aborted: string[] = []
    const tools = (['pure', 'keyed', 'once'] as const).map((restart) =>
      tool(
        restart,
        ({ signal }) => {
          begun.push(restart)
          return untilAborted(signal).finally(() => aborted.push(restart))
        },
        { restart },
      ),
    )
    const { world, agent } = worldWith({ tools })
    const names = ['pure', 'keyed', 'once'].map((name) => ({ name }))
    const { models } = behaving(calling(...names))
    const { runner } = driven(world, { models, tools })
    await runner.start()
    while (begun.length < 3) await turns(1)
    await runner.cancel(agent)
    await turns()
    expect(aborted.toSorted()).toEqual(['keyed', 'once', 'pure'])
    await runner.message(agent, 'Never mind')
    await runner.idle()
    expect(transcript(world, agent).slice(2)).toEqual([
      'tool call-1-0!: [cancelled by the user]',
      'tool call-1-1!: [cancelled by the user; it may have taken effect]',
      'tool call-1-2!: [cancelled by the user; it may have taken effect]',
      'assistant: [turn cancelled]',
      'user: Never mind',
      'assistant: Done.',
    ])
    expectValid(world, agent)
    expect(runner.stats.inFlight).toBe(0)
  })

  it('aborts the signal of a call that looks at a copy of its context, even if it looks late', async () => {
    const copies: ToolContext[] = []
    const looked = gate<boolean>()
    const tools = [
      tool('slow', async (context) => {
        copies.push({ ...context }, Object.assign({}, context))
        await context.sleep(1e9).catch(() => undefined)
        looked.resolve(context.signal.aborted && copies.every(({ signal }) => signal.aborted))
        return 'late'
      }),
    ]
    const { world, agent } = worldWith({ tools })
    const { runner } = driven(world, { models: behaving(calling({ name: 'slow' })).models, tools })
    await runner.start()
    while (copies.length === 0) await turns(1)
    await runner.cancel(agent)
    expect(await looked.promise).toBe(true)
    await runner.stop()
  })

  it('while its call waits for another try is tried no more', async () => {
    const { world, agent } = worldWith()
    const retry = { maxAttempts: 5, firstDelayMs: 1e9, maxDelayMs: 1e9, kinds: ['overloaded' as const] }
    const { models, requests } = behaving(() => fail('overloaded'), { retry })
    const { runner, next } = driven(world, { models })
    const scheduled = next('retry-scheduled')
    await runner.start()
    await scheduled
    await runner.cancel(agent)
    await runner.idle()
    expect(requests).toHaveLength(1)
    expect(world.nowMs).toBeLessThan(1e9)
  })

  it('while its call waits for a slot never makes it', async () => {
    const { world } = worldWith()
    const second = addAgent(world)
    const [go, begun] = [gate(), gate()]
    const { models, requests } = behaving(async () => {
      begun.resolve()
      await go.promise
      return 'Hi'
    })
    const { runner } = driven(world, { models, maxInFlightPerProvider: 1 })
    await runner.start()
    await begun.promise
    await runner.cancel(second)
    go.resolve()
    await runner.idle()
    expect(requests).toHaveLength(1)
    expect(world.read(second, LastTurn).stop).toBe('cancelled')
  })

  it('while its call waits for a slot leaves its place in line to those behind it, and its provider alone', async () => {
    const { world } = worldWith()
    const [second, third, fourth] = [addAgent(world), addAgent(world), addAgent(world)]
    const [go, begun] = [gate(), gate()]
    let calls = 0
    const { scripted: inner } = behaving(() => 'Hi').models
    // Unlike a script, it does not look at its signal.
    const call: ModelProvider['call'] = async (...given) => {
      calls++
      begun.resolve()
      await go.promise
      return inner.call(...given)
    }
    const { runner } = driven(world, { models: { scripted: { call } }, maxInFlightPerProvider: 1, maxInFlight: 2 })
    await runner.start()
    await begun.promise
    await runner.cancel(second)
    await runner.cancel(fourth)
    go.resolve()
    await runner.idle()
    expect(calls).toBe(2)
    const ends = [second, third, fourth].map((one) => world.read(one, LastTurn).stop)
    expect(ends).toEqual(['cancelled', 'done', 'cancelled'])
  })

  it('by the end of its Runner has each piece of its work aborted', async () => {
    const both = Array.from({ length: 2 }, () => ({ begun: gate(), aborted: gate() }))
    let calls = 0
    const wait = tool('wait', ({ signal }) => {
      const one = both[calls++]
      one?.begun.resolve()
      return untilAborted(signal).finally(() => one?.aborted.resolve())
    })
    const { world } = worldWith({ tools: [wait] })
    const { runner } = driven(world, {
      models: behaving(calling({ name: 'wait' }, { name: 'wait' })).models,
      tools: [wait],
    })
    await runner.start()
    await Promise.all(both.map(({ begun }) => begun.promise))
    await runner.stop()
    await Promise.all(both.map(({ aborted }) => aborted.promise))
    expect(calls).toBe(2)
  })

  it('in the tick in which its `once` tool was to be admitted never runs it', async () => {
    let runs = 0
    const send = tool('send', () => ++runs, { restart: 'once' })
    const { world, agent } = worldWith({ tools: [send] })
    const { models } = behaving(calling({ name: 'send' }))
    const { runner } = driven(world, { models, tools: [send] })
    runner.on('tool-called', () => void runner.cancel(agent))
    await runner.start()
    await runner.idle()
    expect(runs).toBe(0)
    expect(transcript(world, agent).at(-1)).toBe('assistant: [turn cancelled]')
    expectValid(world, agent)
  })

  it('when it has nothing to do stays as it was', async () => {
    const { world, agent } = worldWith()
    const { runner, told } = driven(world, { models: behaving(() => 'Hi').models })
    await runner.start()
    await runner.idle()
    await runner.cancel(agent)
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
    expect(told('input-refused')).toMatchObject([{ kind: 'cancel', reason: 'no turn is open' }])
  })
})

describe('work that was cancelled', () => {
  it('and ends all the same is dropped and counted', async () => {
    const { world, agent } = worldWith()
    const [begun, end] = [gate(), gate()]
    const { models } = behaving(async () => {
      begun.resolve()
      await end.promise
      return 'Too late'
    })
    const { runner } = driven(world, { models })
    await runner.start()
    await begun.promise
    await runner.cancel(agent)
    await runner.idle()
    expect(runner.stats).toMatchObject({ dropped: 0, inFlight: 0 })
    end.resolve()
    await turns()
    expect(runner.stats.dropped).toBe(1)
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: [turn cancelled]'])
  })
})

describe('a Runner that is stopped', () => {
  it('aborts work without settling it, and the next one begins it again', async () => {
    const { world, agent } = worldWith()
    const begun = gate()
    let aborted = 0
    const call: ModelProvider['call'] = (_, { signal }) => {
      begun.resolve()
      signal.addEventListener('abort', () => aborted++)
      return untilAborted(signal)
    }
    const { runner } = driven(world, { models: { scripted: { call } } })
    await runner.start()
    await begun.promise
    await runner.stop()
    expect(aborted).toBe(1)
    expect(world.has(agent, LastTurn)).toBe(false)
    const again = driven(world, { models: behaving(() => 'Hi').models })
    await again.runner.start()
    await again.runner.idle()
    expect(transcript(world, agent)).toEqual(['user: Go', 'assistant: Hi'])
  })
})
