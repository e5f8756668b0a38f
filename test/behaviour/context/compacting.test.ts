import { fail, LastTurn, type TokenUsage } from 'entia'
import { contextStats } from 'entia/context'
import { project } from 'entia/models'
import { CompactionPending, LastCall, Summarizing } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { expectValid } from '../../transcript.ts'
import { gate, turns } from '../turns/driving.ts'
import {
  at,
  boundaries,
  conversation,
  covering,
  frontier,
  full,
  handover,
  living,
  lookingFirst,
  tailOf,
  textsOf,
} from './long-lives.ts'
import { tool } from '../turns/tools.ts'

describe('a compaction that nobody asks for', () => {
  it.each([
    ['at the threshold', 49_000, true],
    ['one token below it', 48_999, false],
  ])('is pending when a turn ends %s', async (_, cacheWrite, isPending) => {
    const { agent, say, summaries, world } = await living({ usage: () => ({ ...full, cacheWrite }) })
    await say('One')
    expect(world.has(agent, CompactionPending)).toBe(isPending)
    await say('Two')
    expect(summaries).toHaveLength(isPending ? 1 : 0)
  })

  it('comes before the first step of the next turn, and covers all before the message that opened it', async () => {
    const { agent, events, say, steps, summaries, world } = await living({ usage: () => full })
    await say('One')
    expect([steps.length, summaries.length]).toEqual([1, 0])
    expect(events.at(-1)?.type).toBe('turn-ended')
    await say('Two')
    expect([steps.length, summaries.length]).toEqual([2, 1])
    expect(textsOf(steps[1]!)).toEqual([covering(handover), 'Two'])
    expect(conversation(world, agent)).toEqual(['Hello', 'Hi', 'One', 'Well.', 'Two', 'Well.'])
    expect(boundaries(world, agent)).toEqual([
      {
        atMs: 0,
        by: 'auto',
        kind: 'summary',
        missingHeadings: [],
        seq: 4,
        text: handover,
        truncated: false,
        usage: { input: 1_000, output: 100 },
      },
    ])
  })

  it('never comes with an unknown window, however many tokens there are; asked for, it does', async () => {
    const { agent, runner, say, summaries } = await living({ contextWindow: null, usage: () => at(999_999) })
    await say('One')
    await say('Two')
    expect(summaries).toEqual([])
    expect(await runner.compactIfNeeded(agent)).toEqual({ skipped: true, reason: 'unknown-window' })
    expect(await runner.compact(agent)).toMatchObject({ skipped: false, boundary: { by: 'manual', seq: 6 } })
  })

  it('never comes where the provider does not say what it reads', async () => {
    const { agent, runner, say, summaries } = await living({ usage: () => ({ cacheRead: 999_999, output: 1 }) })
    await say('One')
    await say('Two')
    expect(summaries).toEqual([])
    expect(await runner.compactIfNeeded(agent)).toEqual({ skipped: true, reason: 'unknown-usage' })
  })

  it('never comes where it is switched off, at no fullness; asked for, it does', async () => {
    const config = { context: { compaction: { enabled: false } } }
    const { agent, runner, say, summaries } = await living({ config, usage: () => at(1_000_000) })
    await say('One')
    await say('Two')
    expect(summaries).toEqual([])
    await runner.compact(agent, { focus: 'auth' })
    expect(textsOf(summaries[0]!)[0]?.endsWith('\n\nCompact focus: auth')).toBe(true)
  })

  it('has the earlier summary and the messages after it to go by, and none before', async () => {
    const summary = (_: unknown, count: number): string => `# Current state\nsummary ${count}`
    const { agent, runner, say, summaries, world } = await living({ summary })
    await say('One')
    await runner.compact(agent)
    await say('Two')
    await runner.compact(agent)
    const [text] = textsOf(summaries[1]!)
    for (const there of ['summary 1', '## user\nTwo', '## assistant\nWell.']) expect(text).toContain(there)
    for (const gone of ['Hello', 'One']) expect(text).not.toContain(gone)
    expect(summaries[1]).toMatchObject({ tail: [], tools: [], options: { maxOutputTokens: 4_096 } })
    expect(boundaries(world, agent).map(({ seq }) => seq)).toEqual([4, 6])
    expect(textsOf(project(world, agent))).toEqual([covering('# Current state\nsummary 2')])
  })

  it('that always fails comes at turns 1, 3, 7, 15, 31, 63 and 95, and each turn runs without it', async () => {
    const attempts: number[] = []
    let turn = 0
    const { agent, say, told, world } = await living({
      usage: () => full,
      summary: () => {
        attempts.push(turn)
        return fail('refused')
      },
    })
    await say('fills the window')
    for (turn = 1; turn <= 100; turn++) await say(`turn ${turn}`)
    expect(attempts).toEqual([1, 3, 7, 15, 31, 63, 95])
    expect(told('compaction-failed').map(({ by, failures }) => [by, failures])).toEqual(
      attempts.map((_, index) => ['auto', index + 1]),
    )
    expect(told('turn-ended').every(({ stop, steps }) => stop === 'done' && steps === 1)).toBe(true)
    expect(boundaries(world, agent)).toEqual([])
  })

  it('that has failed twice and then succeeds waits two turns again after the next failure', async () => {
    let turn = 0
    const attempts: number[] = []
    const { say, told } = await living({
      // The call right behind the summary is short, and those after it are not.
      usage: (step) => (step === 8 ? at(10) : full),
      summary: (_, count) => {
        attempts.push(turn)
        return count === 3 ? handover : fail('refused')
      },
    })
    await say('fills the window')
    for (turn = 1; turn <= 12; turn++) await say(`turn ${turn}`)
    expect(attempts).toEqual([1, 3, 7, 9, 11])
    expect(told('compaction-failed').map(({ failures }) => failures)).toEqual([1, 2, 1, 2])
  })

  it('whose next own call is over the threshold all the same is ineffective, and counts as a failure', async () => {
    let turn = 0
    const attempts: number[] = []
    const { say, told } = await living({
      usage: () => full,
      summary: () => {
        attempts.push(turn)
        return handover
      },
    })
    await say('fills the window')
    for (turn = 1; turn <= 7; turn++) await say(`turn ${turn}`)
    expect(attempts).toEqual([1, 3, 7])
    expect(told('compaction-ineffective').map(({ failures, fullness }) => [failures, fullness])).toEqual([
      [1, 0.85],
      [2, 0.85],
      [3, 0.85],
    ])
  })

  it('comes in the midst of a turn that has filled the window, and leaves what was asked for in the tail', async () => {
    const look = tool('look', () => 'a tree')
    const usage = (step: number): TokenUsage => at(step === 1 ? 960_000 : 10)
    const { agent, say, steps, summaries, world } = await living({
      agent: { tools: [look] },
      runner: { tools: [look] },
      usage,
      answer: lookingFirst(),
    })
    await say('Look\nand tell')
    expect(summaries).toHaveLength(1)
    expect(textsOf(summaries[0]!)[0]).toContain('[tool_result: a tree]')
    expect(textsOf(steps[1]!)).toEqual([covering(handover)])
    expect(tailOf(steps[1]!)).toBe('# Live state\n\n- request: Look and tell')
    expectValid(world, agent)
    expect(world.get(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 2 })
  })

  it.each([
    ['below what interrupts a turn', 0.95, 940_000, 0],
    ['where nothing interrupts a turn', null, 999_999, 0],
    ['at what interrupts a turn, which the threshold has raised', 0.2, 850_000, 1],
    ['below a threshold that is above what interrupts a turn', 0.2, 849_999, 0],
  ])('in the midst of a turn, %s', async (_, midTurn, tokens, count) => {
    const look = tool('look', () => 'a tree')
    const { say, summaries } = await living({
      agent: { tools: [look] },
      runner: { tools: [look] },
      config: { context: { compaction: { midTurn } } },
      usage: (step) => at(step === 1 ? tokens : 10),
      answer: lookingFirst(),
    })
    await say('Look')
    expect(summaries).toHaveLength(count)
  })

  it('does not come when what is known is older than what has rewritten the conversation since', async () => {
    const { agent, runner, say, summaries, world } = await living({ usage: () => full })
    await say('One')
    expect(world.has(agent, CompactionPending)).toBe(true)
    await runner.change(() => world.remove(agent, LastCall))
    await say('Two')
    expect([summaries.length, world.has(agent, CompactionPending)]).toEqual([0, true])
    await say('Three')
    expect(summaries).toHaveLength(1)
  })

  it('that a person stops is no failure, and comes in the next turn', async () => {
    const open = gate()
    const { agent, runner, say, steps, summaries, told, world } = await living({
      usage: () => full,
      summary: async (_, count) => {
        if (count === 1) await open.promise
        return handover
      },
    })
    await say('One')
    await runner.message(agent, 'Two')
    await turns()
    expect([world.has(agent, Summarizing), summaries.length, steps.length]).toEqual([true, 1, 1])
    await runner.cancel(agent)
    open.resolve()
    await runner.idle()
    expect(world.has(agent, Summarizing)).toBe(false)
    expect(world.get(agent, LastTurn)?.stop).toBe('cancelled')
    expect([told('compaction-failed').length, world.has(agent, CompactionPending)]).toEqual([0, true])
    expect(told('work-cancelled')[0]?.effects).toMatchObject([{ kind: 'model', fate: 'aborted' }])
    await say('Three')
    expect([summaries.length, steps.length, boundaries(world, agent).length]).toEqual([2, 2, 1])
    expect(textsOf(steps[1]!)).toEqual([covering(handover), 'Three'])
  })

  it('is told of with what it has cost and saved, once the next call shows that', async () => {
    const { agent, say, told, world } = await living({
      usage: (step) => (step === 1 ? full : { input: 100, cacheRead: 0, cacheWrite: 4_900, output: 10 }),
      runner: { prices: { [frontier]: { contextWindow: 1_000_000, input: 2, output: 10 } } },
    })
    await say('One')
    await say('Two')
    expect(told('context-rewritten')).toMatchObject([
      {
        kind: 'summary',
        tokensBefore: 850_000,
        tokensAfter: 5_000,
        cachedTokensLost: 849_000,
        costUsd: 0.003,
      },
    ])
    expect(contextStats(world, agent).rewrites).toEqual({
      count: 1,
      tokensSaved: 845_000,
      cachedTokensLost: 849_000,
      costUsd: 0.003,
    })
    expect(told('prefix-broken').map(({ component }) => component)).toEqual(['Boundary'])
    expect(told('cache-missed')).toEqual([])
  })
})

describe('a compaction that weighs the cache', () => {
  const prices = { [frontier]: { contextWindow: 1_000_000, input: 10, cacheRead: 1, cacheWrite: 12, output: 10 } }
  const config = { context: { compaction: { cacheAware: true } } }

  it('waits while it would lose more than it saves', async () => {
    const { agent, say, summaries, world } = await living({ config, runner: { prices }, usage: () => full })
    for (const text of ['One', 'Two', 'Three']) await say(text)
    expect(summaries).toEqual([])
    expect(world.has(agent, CompactionPending)).toBe(true)
  })

  it('does not wait in the midst of a turn', async () => {
    const look = tool('look', () => 'a tree')
    const { say, summaries } = await living({
      config,
      agent: { tools: [look] },
      runner: { prices, tools: [look] },
      usage: () => ({ ...full, cacheRead: 910_000 }),
      answer: lookingFirst(),
    })
    await say('Look')
    expect(summaries).toHaveLength(1)
  })

  it('comes at once where prices are not known', async () => {
    const { say, summaries } = await living({ config, usage: () => full })
    await say('One')
    await say('Two')
    expect(summaries).toHaveLength(1)
  })

  it('comes when turns are so long that it pays', async () => {
    const look = tool('look', () => 'a tree')
    const { say, summaries } = await living({
      config,
      agent: { tools: [look] },
      runner: { prices, tools: [look] },
      usage: () => full,
      answer: ({ messages }) => (messages.length < 40 ? { toolCalls: [{ name: 'look' }] } : 'Done.'),
    })
    await say('One')
    await say('Two')
    expect(summaries).toHaveLength(1)
  })
})
