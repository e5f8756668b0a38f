import { fail, LastTurn } from 'entia'
import { describe, expect, it } from 'vitest'
import { expectValid } from '../../transcript.ts'
import { tool } from '../turns/tools.ts'
import { covering, full, handover, living, textsOf } from './long-lives.ts'

describe('a step that is longer than the window', () => {
  const overflow = fail('context-overflow')

  it('is taken once more when the conversation is shorter', async () => {
    const { agent, runner, say, steps, summaries, told, world } = await living({
      answer: ({ messages }) => (messages.length > 2 ? overflow : 'Made it.'),
    })
    await say('One')
    expect([steps.length, summaries.length]).toEqual([2, 1])
    expect(textsOf(steps[1]!)).toEqual([covering(handover), 'One'])
    expect(world.get(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 1 })
    expect([told('model-failed').length, told('turn-error').length]).toEqual([1, 0])
    expectValid(world, agent)
    await runner.stop()
  })

  it('is taken once more whatever the back-off, and as the last one that the turn may have', async () => {
    const { agent, say, told, world } = await living({
      agent: { maxSteps: 1 },
      usage: () => full,
      summary: (_, count) => (count === 1 ? fail('refused') : handover),
      answer: ({ messages }) => (messages.length > 6 ? overflow : 'Made it.'),
    })
    await say('One')
    await say('Two')
    expect(told('compaction-failed')).toHaveLength(1)
    await say('Three')
    expect(world.get(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 1 })
  })

  it('is taken once more each time that it is another step', async () => {
    const look = tool('look', () => 'x'.repeat(100))
    let step = 0
    const { say, steps, summaries, world, agent } = await living({
      agent: { tools: [look] },
      runner: { tools: [look] },
      answer: () => {
        step++
        if (step === 1 || step === 3) return overflow
        return step === 2 ? { toolCalls: [{ name: 'look' }] } : 'Done.'
      },
    })
    await say('One')
    expect([steps.length, summaries.length]).toEqual([4, 2])
    expect(world.get(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 2 })
  })

  it('the second time ends the turn, and says what to do', async () => {
    const { agent, say, steps, summaries, told, world } = await living({ answer: () => overflow })
    await say('One')
    expect([steps.length, summaries.length]).toEqual([2, 1])
    expect(world.get(agent, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'context-overflow' } })
    expect(told('turn-error')).toMatchObject([{ kind: 'context-overflow', retryable: false, failure: {} }])
    expect(told('turn-error')[0]?.message).toContain('/compact')
  })

  it.each([
    ['with an unknown window', { contextWindow: null }, 0],
    ['where nothing is compacted', { config: { context: { compaction: { enabled: false } } } }, 0],
    ['with nothing before it', { agent: { messages: [] } }, 0],
    ['when the summary fails', { summary: () => fail('refused') }, 1],
  ])('%s ends the turn at once', async (_, options, count) => {
    const { agent, say, steps, summaries, told, world } = await living({ answer: () => overflow, ...options })
    await say('One')
    expect([steps.length, summaries.length]).toEqual([1, count])
    expect(told('turn-error')).toMatchObject([{ kind: 'context-overflow' }])
    expect(world.get(agent, LastTurn)).toEqual({
      ...world.get(agent, LastTurn),
      stop: 'failed',
      steps: 1,
      failure: { kind: 'context-overflow', message: 'The script says context-overflow.' },
    })
  })

  it('of an agent without a Context fails the turn as ever', async () => {
    const { say, told } = await living({ config: null, answer: () => overflow })
    await say('One')
    expect(told('turn-ended')).toMatchObject([{ stop: 'failed' }])
  })
})
