import { fail } from 'entia'
import { Summarizing } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { gate, rejection, turns } from '../turns/driving.ts'
import { at, covering, full, handover, living, lookingFirst, tailOf, textsOf } from './long-lives.ts'
import { tool } from '../turns/tools.ts'

describe('a compaction that a program asks for', () => {
  it('comes after the result of a tool that runs, and before the next step', async () => {
    const open = gate()
    const look = tool('look', async () => {
      await open.promise
      return 'a tree'
    })
    const { agent, events, runner, steps, summaries } = await living({
      agent: { tools: [look] },
      runner: { tools: [look] },
      answer: lookingFirst(),
    })
    await runner.message(agent, 'Look')
    const asked = runner.compact(agent)
    await turns()
    expect([steps.length, summaries.length]).toEqual([1, 0])
    open.resolve()
    expect(await asked).toMatchObject({ skipped: false, boundary: { by: 'manual', seq: 5 } })
    await runner.idle()
    const types = events.map(({ type }) => type)
    const order = ['tool-answered', 'summary-started', 'boundary-written'].map((type) => types.indexOf(type as never))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(types.lastIndexOf('model-called')).toBeGreaterThan(order[2] ?? Infinity)
    expect(textsOf(steps[1]!)).toEqual([covering(handover)])
  })

  it('joins one that has not begun: one call, the newest focus, one result for both', async () => {
    const open = gate()
    const look = tool('look', async () => {
      await open.promise
      return 'a tree'
    })
    const { agent, runner, summaries } = await living({
      agent: { tools: [look] },
      runner: { tools: [look] },
      answer: lookingFirst(),
    })
    await runner.message(agent, 'Look')
    const asked = [runner.compact(agent, { focus: 'auth' }), runner.compact(agent, { focus: 'billing' })]
    asked.push(runner.compactIfNeeded(agent))
    await turns()
    open.resolve()
    const [first, second, third] = await Promise.all(asked)
    expect(summaries).toHaveLength(1)
    expect(textsOf(summaries[0]!)[0]?.endsWith('Compact focus: billing')).toBe(true)
    expect(first).toMatchObject({ boundary: { focus: 'billing' } })
    expect([second, third]).toEqual([first, first])
  })

  it('has its summary asked for in one shot: no later request begins with it, so it is worth no cache entry', async () => {
    const { agent, runner, steps, summaries } = await living({})
    await runner.compact(agent)
    await runner.message(agent, 'Go on')
    await runner.idle()
    expect(summaries.map(({ isOneShot }) => isOneShot)).toEqual([true])
    expect(steps.map(({ isOneShot }) => isOneShot)).not.toContain(true)
  })

  it('waits for one that has begun, and then finds nothing more to do', async () => {
    const open = gate()
    const { agent, runner, summaries } = await living({
      summary: async () => {
        await open.promise
        return handover
      },
    })
    const asked = [runner.compact(agent)]
    await turns()
    asked.push(runner.compact(agent))
    await turns()
    expect(summaries).toHaveLength(1)
    open.resolve()
    expect(await Promise.all(asked)).toMatchObject([{ skipped: false }, { skipped: true, reason: 'empty' }])
    expect(summaries).toHaveLength(1)
  })

  it('of an agent that has nothing to sum up is skipped, with no model call', async () => {
    const { agent, runner, summaries } = await living({ agent: { messages: [] } })
    expect(await runner.compact(agent)).toEqual({ skipped: true, reason: 'empty' })
    expect(await runner.checkpoint(agent)).toEqual({ skipped: true, reason: 'empty' })
    expect(summaries).toEqual([])
  })

  it('is skipped when nothing has been said since the last one', async () => {
    const { agent, runner, summaries } = await living()
    await runner.compact(agent)
    expect(await runner.compact(agent)).toEqual({ skipped: true, reason: 'empty' })
    expect(await runner.checkpoint(agent)).toEqual({ skipped: true, reason: 'empty' })
    expect(summaries).toHaveLength(1)
  })

  it('if it is needed says why it is not', async () => {
    const { agent, runner, say } = await living({ usage: (step) => at(step === 1 ? 849_999 : 850_000) })
    expect(await runner.compactIfNeeded(agent)).toEqual({ skipped: true, reason: 'no-own-call' })
    await say('One')
    expect(await runner.compactIfNeeded(agent)).toEqual({ skipped: true, reason: 'below-threshold' })
    await say('Two')
    expect(await runner.compactIfNeeded(agent)).toMatchObject({ skipped: false, boundary: { by: 'manual' } })
  })

  it('that fails is told so, counts for nothing, and resets nothing', async () => {
    const { agent, runner, say, summaries, told } = await living({
      usage: () => full,
      summary: (_, count) => (count === 2 ? handover : fail('refused')),
    })
    await say('One')
    expect(await runner.compact(agent)).toMatchObject({ skipped: false, failure: { kind: 'refused' } })
    expect(told('compaction-failed')).toMatchObject([{ by: 'manual', failures: 0 }])
    await say('Two')
    expect(summaries).toHaveLength(2)
  })

  it('comes whatever the back-off, and its success ends that', async () => {
    const { agent, runner, say, summaries, told } = await living({
      usage: (step) => (step === 3 ? at(10) : full),
      summary: (_, count) => (count === 2 ? handover : fail('refused')),
    })
    await say('One')
    await say('Two')
    expect(await runner.compact(agent)).toMatchObject({ skipped: false, boundary: { by: 'manual' } })
    await say('Three')
    await say('Four')
    await say('Five')
    expect(summaries).toHaveLength(3)
    expect(told('compaction-failed').map(({ failures }) => failures)).toEqual([1, 1])
  })

  it('of an idle agent is stopped by a cancel, and lets messages wait meanwhile', async () => {
    const open = gate()
    const { agent, runner, steps, world } = await living({
      summary: async () => {
        await open.promise
        return handover
      },
    })
    const asked = runner.compact(agent)
    await turns()
    await runner.message(agent, 'Well?')
    await turns()
    expect([steps.length, world.has(agent, Summarizing)]).toEqual([0, true])
    await runner.cancel(agent, 'No more.')
    expect(await asked).toEqual({ skipped: false, failure: { kind: 'cancelled', message: 'No more.' } })
    await runner.idle()
    expect(transcript(world, agent).slice(2)).toEqual(['user: Well?', 'assistant: Well.'])
  })

  it('stands before a message that came meanwhile', async () => {
    const open = gate()
    const { agent, runner, steps } = await living({
      summary: async () => {
        await open.promise
        return handover
      },
    })
    const asked = runner.compact(agent)
    await turns()
    await runner.message(agent, 'Well?')
    open.resolve()
    await asked
    await runner.idle()
    expect(textsOf(steps[0]!)).toEqual([covering(handover), 'Well?'])
    expect(tailOf(steps[0]!)).toBe('')
  })

  it('is refused for what is no agent, for one without a Context, and for options that it has not', async () => {
    const { runner, world } = await living()
    const plain = await runner.change(() => world.spawn())
    for (const call of [runner.compact(plain), runner.checkpoint(plain), runner.compactIfNeeded(999)]) {
      expect(await rejection(call)).toMatchObject({ code: 'invalid-argument' })
    }
    expect(await rejection(runner.compact(1, { note: 'x' } as never))).toMatchObject({ code: 'invalid-argument' })
    expect(await rejection(runner.checkpoint(1, { note: 5 } as never))).toMatchObject({ code: 'invalid-argument' })
  })
})
