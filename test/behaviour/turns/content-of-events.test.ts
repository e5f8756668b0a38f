import { memoryStore, type Store, VirtualClock } from 'entia'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { behaving, calling, driven, gate, mortal, reopened, settled, worldWith } from './driving.ts'
import { tool, wait } from './tools.ts'

const waiting = () => behaving(calling({ name: 'wait', arguments: { n: 7 } })).models

async function linesOf(store: Store): Promise<string[]> {
  const journal = await store.open('world')
  const { rows = [] } = (await journal.load()) ?? {}
  await journal.close()
  return rows.map(({ line }) => line)
}

describe('the events of a tool call', () => {
  it('have its arguments, and its result as the model reads it', async () => {
    const { world } = worldWith({ tools: [wait] })
    const { told } = await settled(world, { models: waiting(), tools: [wait] })
    expect(told('tool-called')).toMatchObject([{ tool: 'wait', arguments: { n: 7 } }])
    const result = [{ type: 'text', text: 'waited 7' }]
    expect(told('tool-answered')).toMatchObject([{ tool: 'wait', isError: false, result }])
  })

  it('have what was refused as the result of a call that never began', async () => {
    const { world } = worldWith()
    const { told } = await settled(world, { models: waiting() })
    const result = [{ type: 'text', text: 'Error: there is no tool named wait.' }]
    expect(told('tool-answered')).toMatchObject([{ isError: true, result }])
  })

  it('hold nothing that a listener could change in the world', async () => {
    const { world } = worldWith({ tools: [wait] })
    const { told } = await settled(world, { models: waiting(), tools: [wait] })
    expect(Object.isFrozen(told('tool-called')[0]?.arguments)).toBe(true)
    expect(Object.isFrozen(told('tool-answered')[0]?.result)).toBe(true)
  })

  it('stand in the journal without either, which stand there once', async () => {
    const store = memoryStore()
    const echo = tool('echo', () => 'a result of its own')
    const { world } = worldWith({ tools: [echo] })
    const { models } = behaving(calling({ name: 'echo', arguments: { word: 'an argument of its own' } }))
    await settled(world, { models, tools: [echo], store })
    const journal = (await linesOf(store)).join('\n')
    expect(journal.split('an argument of its own')).toHaveLength(2)
    expect(journal.split('a result of its own')).toHaveLength(2)
  })

  it.each([
    ['that has just begun', 'tool-called'],
    ['that has just ended', 'tool-answered'],
  ] as const)('%s are told again after a crash, content and time included', async (_, type) => {
    const kept = memoryStore()
    const [committed, dead] = [gate(), gate<never>()]
    const stop = tool('stop', () => (type === 'tool-called' ? dead.promise : 'stopped'))
    let asked = 0
    const model = () =>
      behaving((request, context) =>
        ++asked === 1
          ? { toolCalls: [{ name: 'stop', arguments: { why: 'so' } }] }
          : type === 'tool-answered' && asked === 2
            ? dead.promise
            : calling()(request, context),
      )
    const { world } = worldWith({ tools: [stop] })
    const first = mortal(world, { models: model().models, tools: [stop], store: kept })
    first.runner.on(type, () => committed.resolve())
    await first.runner.start()
    await committed.promise
    await first.runner.stop()
    const second = await reopened(kept, { models: model().models, tools: [tool('stop', () => 'stopped')] })
    const [before] = first.told(type)
    await second.runner.start()
    expect(second.told(type)[0]).toEqual(before)
    expect(before).toMatchObject(
      type === 'tool-called' ? { arguments: { why: 'so' } } : { result: [{ text: 'stopped' }] },
    )
    await second.runner.idle()
  })

  it('are emitted when it ends, with its own time, though the model reads the results in call order', async () => {
    const { agent, world } = worldWith({ tools: [wait] })
    const lengths = [50, 7, 20]
    const { models } = behaving(calling(...lengths.map((n) => ({ name: 'wait', arguments: { n } }))))
    const { told } = await settled(world, { models, tools: [wait] })
    expect(told('tool-answered').map(({ nowMs, result }) => [nowMs, result])).toEqual(
      [7, 20, 50].map((n) => [n, [{ type: 'text', text: `waited ${n}` }]]),
    )
    const read = transcript(world, agent).filter((line) => line.startsWith('tool '))
    expect(read.map((line) => line.split(': ')[1])).toEqual(lengths.map((n) => `waited ${n}`))
  })

  it('are emitted once each where the turn is cancelled while a slow one runs, in front of one that has ended', async () => {
    const { agent, world } = worldWith({ tools: [wait] })
    const { models } = behaving(calling(...[50, 7].map((n) => ({ name: 'wait', arguments: { n } }))))
    const { runner, told } = driven(world, { models, tools: [wait], clock: new VirtualClock() })
    runner.on('tool-answered', ({ nowMs }) => nowMs === 7 && void runner.cancel(agent))
    await runner.start()
    await runner.idle()
    const texts = told('tool-answered').map(({ nowMs, result }) => [
      nowMs,
      ...result.map((block) => block.type === 'text' && block.text),
    ])
    expect(texts).toEqual([
      [7, 'waited 7'],
      [7, '[cancelled by the user]'],
    ])
    expectValid(world, agent)
  })

  it('that has ended behind a slow one are emitted again after a crash, content and time included', async () => {
    const kept = memoryStore()
    const [committed, dead] = [gate(), gate<never>()]
    const slow = tool('slow', () => dead.promise)
    const quick = tool('quick', () => 'quick as it is')
    const model = () => behaving(calling({ name: 'slow' }, { name: 'quick' })).models
    const { world } = worldWith({ tools: [slow, quick] })
    const first = mortal(world, { models: model(), tools: [slow, quick], store: kept })
    first.runner.on('tool-answered', () => committed.resolve())
    await first.runner.start()
    await committed.promise
    await first.runner.stop()
    const second = await reopened(kept, { models: model(), tools: [tool('slow', () => 'slow no more'), quick] })
    await second.runner.start()
    await second.runner.idle()
    const [before] = first.told('tool-answered')
    expect(before).toMatchObject({ tool: 'quick', result: [{ text: 'quick as it is' }] })
    const again = second.told('tool-answered')
    expect(again[0]).toEqual(before)
    expect(again.slice(1)).toMatchObject([{ tool: 'slow' }])
  })

  it('of a call that a person has agreed to have its arguments as well', async () => {
    const send = tool('send', () => 'sent', { approval: true })
    const { world } = worldWith({ tools: [send] })
    const { models } = behaving(calling({ name: 'send', arguments: { to: 'Ann' } }))
    const { told } = await settled(world, { models, tools: [send], approve: () => true })
    expect(told('tool-called')).toMatchObject([{ arguments: { to: 'Ann' } }])
  })
})

describe('every event', () => {
  it('says when it happened: in world time, and by the date', async () => {
    const clock = new VirtualClock({ dateMs: 1_000_000 })
    const { world } = worldWith({ tools: [wait] })
    const { events } = await settled(world, { models: waiting(), tools: [wait], clock })
    const times = events.map((event) => [event.type, event['nowMs' as never], event['dateMs' as never]])
    expect(times).toContainEqual(['turn-started', 0, 1_000_000])
    expect(times).toContainEqual(['model-delta', 0, 1_000_000])
    expect(times).toContainEqual(['tool-answered', 7, 1_000_007])
    expect(times.filter(([, nowMs, dateMs]) => typeof nowMs !== 'number' || typeof dateMs !== 'number')).toEqual([])
  })
})

describe('what a model writes', () => {
  it('is told behind the start of its turn and of its call, also where it begins to write at once', async () => {
    const { world } = worldWith()
    const { models } = behaving(() => 'Hello there')
    const { events } = await settled(world, { models })
    const types = events.map(({ type }) => type)
    expect(types.indexOf('model-delta')).toBeGreaterThan(types.indexOf('turn-started'))
    expect(types.indexOf('model-delta')).toBeGreaterThan(types.indexOf('model-called'))
  })

  /** A provider that writes these pieces at once and ends when it is let go. */
  const writing = (pieces: readonly string[], end: Promise<unknown>) => ({
    slow: {
      isInProcess: true,
      call: async (_: unknown, { onDelta }: { onDelta: (delta: { type: 'text'; text: string }) => void }) => {
        for (const text of pieces) onDelta({ type: 'text', text })
        await end
        const content = [{ type: 'text' as const, text: pieces.join('') }]
        return {
          ok: true as const,
          value: { message: { role: 'assistant' as const, content }, stop: 'end' as const, usage: {} },
        }
      },
    },
  })

  it('can be asked for in the midst of it, with the number of pieces, and no more once it has ended', async () => {
    const end = gate()
    const { world, agent } = worldWith({ model: 'slow/x' })
    const { runner, told } = driven(world, { models: writing(['Once ', 'upon '], end.promise) })
    expect(runner.textSoFar(agent)).toBeUndefined()
    const written = new Promise<void>((resolve) => runner.on('model-delta', ({ index }) => index === 1 && resolve()))
    await runner.start()
    await written
    const { effect, attempt } = told('model-delta')[0] ?? {}
    expect(runner.textSoFar(agent)).toEqual({ effect, attempt, text: 'Once upon ', deltas: 2, isCut: false })
    end.resolve()
    await runner.idle()
    expect(runner.textSoFar(agent)).toBeUndefined()
  })

  it('is kept up to a million characters, cut between characters', async () => {
    const end = gate()
    const { world, agent } = worldWith({ model: 'slow/x' })
    const { runner } = driven(world, { models: writing([`a${'😀'.repeat(600_000)}`, 'more'], end.promise) })
    const written = new Promise<void>((resolve) => runner.on('model-delta', ({ index }) => index === 1 && resolve()))
    await runner.start()
    await written
    const { text = '', deltas, isCut } = runner.textSoFar(agent) ?? {}
    expect([text.length, deltas, isCut, text.isWellFormed()]).toEqual([999_999, 2, true, true])
    end.resolve()
    await runner.idle()
  })
})
