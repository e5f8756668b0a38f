import { fail, LastTurn } from 'entia'
import { CheckpointPending, CompactionPending, ToolRegistry } from 'entia/components'
import { contextStats } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { expectValid, transcript } from '../../transcript.ts'
import { gate, rejection, turns } from '../turns/driving.ts'
import { at, boundaries, full, handover, living, tailOf, textsOf } from './long-lives.ts'
import { tool } from '../turns/tools.ts'

const head = '[The prior task is complete. Its record follows; do not run its tools again.]'
const foot = '[End of record. The conversation goes on below.]'
const covering = (text: string): string => `${head}\n\n${text}\n\n${foot}`
const record = [
  '# Task',
  '# Files & changes',
  '# Technical context',
  '# Strategy & approach',
  '# Verification & next steps',
  '# Where we are',
].join('\nnone\n')

/** Says at its first step that its task is done. */
function doneAtOnce(...details: readonly string[]) {
  let step = 0
  return () => {
    if (step++ > 0) return 'What next?'
    return { toolCalls: details.map((detail) => ({ name: 'mark_task_done', arguments: { detail } })) }
  }
}

describe('a checkpoint', () => {
  it('that an agent marks stands before its next step, and the old messages are gone from it', async () => {
    const { agent, say, steps, summaries, world } = await living({
      answer: doneAtOnce('All filed.'),
      summary: () => record,
    })
    await say('File it')
    expect(transcript(world, agent)[4]).toBe('tool call-3-0: {"status":"acknowledged"}')
    expect(textsOf(summaries[0]!)[0]?.endsWith('\n\nCompletion note: All filed.')).toBe(true)
    expect(textsOf(steps[1]!)).toEqual([covering(record)])
    expect(tailOf(steps[1]!)).toBe('# Live state\n\n- request: File it')
    expect(boundaries(world, agent)).toMatchObject([
      { kind: 'checkpoint', by: 'model', note: 'All filed.', seq: 5, missingHeadings: [] },
    ])
    expectValid(world, agent)
    expect(world.get(agent, LastTurn)).toMatchObject({ stop: 'done', steps: 2 })
  })

  it('has the last of several details for a note, and waits for all calls of the step', async () => {
    const open = gate()
    const look = tool('look', async () => {
      await open.promise
      return 'a tree'
    })
    let step = 0
    const { agent, runner, summaries, world } = await living({
      agent: { tools: [look] },
      runner: { tools: [look] },
      answer: () =>
        step++ > 0
          ? 'What next?'
          : {
              toolCalls: [
                { name: 'mark_task_done', arguments: { detail: 'first' } },
                { name: 'look' },
                { name: 'mark_task_done', arguments: { detail: 'last' } },
              ],
            },
    })
    await runner.message(agent, 'Go')
    await turns()
    expect([summaries.length, world.has(agent, CheckpointPending)]).toEqual([0, true])
    open.resolve()
    await runner.idle()
    expect(boundaries(world, agent)).toMatchObject([{ note: 'last', seq: 7 }])
  })

  it('that was marked in a turn which ended there comes before the first step of the next one', async () => {
    const { agent, say, steps, summaries, world } = await living({
      agent: { maxSteps: 1 },
      answer: doneAtOnce('Done.'),
      summary: () => record,
    })
    await say('File it')
    expect([world.get(agent, LastTurn)?.stop, summaries.length]).toEqual(['max-steps', 0])
    await say('And now?')
    expect(textsOf(steps[1]!)).toEqual([covering(record), 'And now?'])
  })

  it.each([
    ['is idle', undefined],
    ['is idle, with a note', 'surveyed'],
  ])('that a program asks for comes at once when the agent %s', async (_, note) => {
    const { agent, runner, summaries, world } = await living({ summary: () => record })
    const result = await runner.checkpoint(agent, note === undefined ? {} : { note })
    expect(result).toMatchObject({
      skipped: false,
      boundary: { kind: 'checkpoint', by: 'manual', seq: 2, text: record },
    })
    expect(textsOf(summaries[0]!)[0]?.endsWith('Completion note: surveyed')).toBe(note !== undefined)
    expect(contextStats(world, agent)).toMatchObject({ checkpointCount: 1, compactionCount: 0 })
  })

  it('drops a compaction that is pending: there is one summary call', async () => {
    const { agent, runner, say, steps, summaries, world } = await living({ usage: () => full, summary: () => record })
    await say('One')
    expect(world.has(agent, CompactionPending)).toBe(true)
    await runner.checkpoint(agent)
    expect(world.has(agent, CompactionPending)).toBe(false)
    await say('Two')
    expect([summaries.length, boundaries(world, agent).length]).toEqual([1, 1])
    expect(textsOf(steps[1]!)).toEqual([covering(record), 'Two'])
  })

  it('of both that are pending comes first, and when it fails the compaction goes ahead', async () => {
    const { agent, say, summaries, told, world } = await living({
      agent: { maxSteps: 1 },
      answer: doneAtOnce('Done.'),
      usage: () => full,
      summary: (_, count) => (count === 1 ? fail('refused') : handover),
    })
    await say('One')
    expect([world.has(agent, CheckpointPending), world.has(agent, CompactionPending)]).toEqual([true, true])
    await say('Two')
    expect(summaries.map(({ system }) => system.slice(0, 11))).toEqual(['You keep re', 'You write h'])
    expect(told('checkpoint-failed')).toMatchObject([{ by: 'model', note: 'Done.', failure: { kind: 'refused' } }])
    expect(boundaries(world, agent)).toMatchObject([{ kind: 'summary', by: 'auto' }])
    expect(world.has(agent, CheckpointPending)).toBe(false)
  })

  it('of both that are pending is the only one if it succeeds', async () => {
    const { agent, say, summaries, world } = await living({
      agent: { maxSteps: 1 },
      answer: doneAtOnce('Done.'),
      usage: () => full,
      summary: () => record,
    })
    await say('One')
    await say('Two')
    expect(summaries).toHaveLength(1)
    expect(boundaries(world, agent)).toMatchObject([{ kind: 'checkpoint' }])
  })

  it('that is stopped by a person comes in the next turn, if the agent has marked it', async () => {
    const open = gate()
    const { agent, runner, say, summaries, world } = await living({
      answer: doneAtOnce('Done.'),
      summary: async (_, count) => {
        if (count === 1) await open.promise
        return record
      },
    })
    await runner.message(agent, 'Go')
    await turns(10)
    expect(summaries).toHaveLength(1)
    await runner.cancel(agent)
    open.resolve()
    await runner.idle()
    expect([boundaries(world, agent).length, world.has(agent, CheckpointPending)]).toEqual([0, true])
    await say('On')
    expect(boundaries(world, agent)).toMatchObject([{ by: 'model', note: 'Done.' }])
  })

  it('takes what is said twice as one: a program and the agent wait for the same', async () => {
    const { agent, runner, say, summaries, world } = await living({
      answer: doneAtOnce('by the agent'),
      summary: () => record,
    })
    const said = say('Go')
    await turns(1)
    const result = await runner.checkpoint(agent)
    await said
    expect(result).toMatchObject({ boundary: { note: 'by the agent' } })
    expect([summaries.length, boundaries(world, agent).length]).toEqual([1, 1])
  })

  it('that fails is told to the program that asked, and not tried again', async () => {
    const { agent, runner, say, summaries, told } = await living({ summary: () => fail('refused') })
    expect(await runner.checkpoint(agent, { note: 'x' })).toMatchObject({ failure: { kind: 'refused' } })
    expect(told('checkpoint-failed')).toMatchObject([{ by: 'manual', note: 'x' }])
    await say('One')
    expect(summaries).toHaveLength(1)
  })
})

describe('an agent without checkpoints', () => {
  const config = { context: { checkpoint: { enabled: false } } }

  it('has no tool to mark one, cannot be asked for one, and can be compacted', async () => {
    const { agent, runner, say, steps, world } = await living({ config, usage: () => at(1) })
    await say('One')
    expect(steps[0]?.tools.map(({ name }) => name)).not.toContain('mark_task_done')
    expect(await rejection(runner.checkpoint(agent))).toMatchObject({ code: 'invalid-argument' })
    expect(await runner.compact(agent)).toMatchObject({ skipped: false, boundary: { kind: 'summary' } })
    expect(world.get(agent, ToolRegistry)?.tools.map(({ name }) => name) ?? []).not.toContain('mark_task_done')
  })

  it('is told so if it says that its task is done all the same', async () => {
    const { agent, say, world } = await living({ config, answer: doneAtOnce('Done.') })
    await say('One')
    expect(transcript(world, agent)[4]).toMatch(/^tool call-3-0!: Error: there is no tool/)
  })
})
