import { Conversation, type Entity, type World } from 'entia'
import { Context } from 'entia/context'
import {
  Busy,
  CheckpointAsked,
  CheckpointPending,
  CostCeiling,
  RatesAwaited,
  SideCall,
  SummaryTask,
  Turn,
  Unread,
} from 'entia/components'
import { describe, expect, it, vi } from 'vitest'
import { isStepHeld } from '../../../systems/kit.ts'
import { standardCheckpointer } from '../../../src/rules/context/compactor.ts'
import { checkpoint as checkpointSystem } from '../../../systems/context/checkpoint.ts'
import { worldTools } from '../../../systems/sessions/world-tools/index.ts'
import { listener, saying, tickAt, worldOf } from '../one-tick.ts'

const checkpoint = checkpointSystem({ checkpointer: standardCheckpointer, maxStartsPerTick: 256 })
const pending = CheckpointPending({ by: 'model', note: 'Filed.', requests: [] })

/** An agent in its turn that has marked its task as done, and is about to go on. */
function marked(world: World): Entity {
  const turn = Turn({ fromSeq: 1, startedAtMs: 0, steps: 1, toolCalls: 1 })
  const agent = listener(world, Context({}), turn, pending)
  const call = { type: 'tool-call', id: 'a', name: 'mark_task_done', arguments: {} } as const
  const answer = { role: 'tool', callId: 'a', name: 'mark_task_done', content: [{ type: 'text', text: 'ok' }] } as const
  world.append(agent, Conversation, { role: 'assistant', content: [call] }, answer)
  return agent
}

describe('the checkpoint system', () => {
  it('asks for a record before the next step, of all that was said', () => {
    const world = worldOf(checkpoint)
    const agent = marked(world)
    tickAt(world, 0)
    const [call] = world.referrers(SideCall, agent) as [Entity]
    expect(world.read(call, SideCall)).toMatchObject({
      purpose: 'checkpoint',
      toSeq: 3,
      close: 'Completion note: Filed.',
    })
    expect(world.read(call, SummaryTask)).toMatchObject({ by: 'model', kind: 'checkpoint', note: 'Filed.' })
    expect([world.has(agent, CheckpointPending), isStepHeld(world, agent)]).toEqual([false, true])
  })

  it.each([
    ['a call of the step is open', Busy],
    ['something holds the step', RatesAwaited],
  ])('waits while %s', (_, token) => {
    const world = worldOf(checkpoint)
    const agent = marked(world)
    world.add(agent, token)
    tickAt(world, 0)
    expect([world.query(SideCall).length, world.has(agent, CheckpointPending)]).toEqual([0, true])
  })

  it('waits for the next turn of an agent that is idle, unless a program asks', () => {
    const world = worldOf(checkpoint)
    const agent = listener(world, Context({}), pending)
    world.append(agent, Conversation, saying('Done.'))
    world.remove(agent, Unread)
    tickAt(world, 0)
    expect(world.query(SideCall)).toEqual([])
    tickAt(world, 0, { kind: 'checkpoint', agent, request: 'r1' })
    expect(world.read(world.referrers(SideCall, agent)[0] as Entity, SummaryTask)).toMatchObject({
      by: 'manual',
      note: 'Filed.',
      requests: ['r1'],
    })
  })

  it('that a program waits for is written by a world that was saved without a mark for that', () => {
    const world = worldOf(checkpoint)
    const agent = listener(world, Context({}), CheckpointPending({ by: 'manual', requests: ['r1'] }))
    world.append(agent, Conversation, saying('Done.'))
    world.remove(agent, Unread)
    tickAt(world, 0)
    expect(world.query(SideCall)).toEqual([])
    tickAt(world, 0, { kind: 'started', dateMs: 0 })
    expect(world.query(SideCall)).toHaveLength(1)
    expect([world.has(agent, CheckpointAsked), world.has(agent, CheckpointPending)]).toEqual([false, false])
  })

  it('that nobody waits for is no reason to look at an agent that rests', () => {
    const world = worldOf(checkpoint)
    const agent = listener(world, Context({}), pending)
    world.append(agent, Conversation, saying('Done.'))
    world.remove(agent, Unread)
    const read = vi.spyOn(world, 'read')
    const get = vi.spyOn(world, 'get')
    tickAt(world, 0)
    expect([read.mock.calls, get.mock.calls]).toEqual([[], []])
  })

  it('of an agent that has reached its ceiling fails for the program that asks, and waits for the agent', () => {
    const world = worldOf(checkpoint)
    const agent = marked(world)
    world.add(agent, CostCeiling({ atMs: 0, bound: 'turn', limitUsd: 1, spentUsd: 2 }))
    world.patch(agent, CheckpointPending, { requests: ['r1'] })
    world.add(agent, CheckpointAsked)
    const { events } = tickAt(world, 0)
    expect(events).toMatchObject([
      { type: 'summary-answered', requests: ['r1'], result: { skipped: false, failure: { kind: 'budget-spent' } } },
    ])
    expect(world.read(agent, CheckpointPending)).toEqual({ by: 'model', note: 'Filed.', requests: [] })
  })
})

describe('mark_task_done', () => {
  const markTaskDone = worldTools(undefined).get('mark_task_done')

  it('keeps the last detail, and does not forget the programs that wait', () => {
    const world = worldOf()
    const agent = listener(world, Context({}), CheckpointPending({ by: 'manual', note: 'x', requests: ['r1'] }))
    const call = { agent, call: 99, callId: 'a', arguments: { detail: 'All filed.' } }
    expect(markTaskDone?.(world, call)).toBe('{"status":"acknowledged"}')
    expect(world.read(agent, CheckpointPending)).toEqual({ by: 'model', note: 'All filed.', requests: ['r1'] })
  })

  it.each([[{}], [{ detail: '' }], [{ detail: 5 }]])('wants a detail; came %j', (given) => {
    const world = worldOf()
    const agent = listener(world, Context({}))
    expect(markTaskDone?.(world, { agent, call: 99, callId: 'a', arguments: given })).toMatchObject({
      problem: expect.stringContaining('detail'),
    })
    expect(world.has(agent, CheckpointPending)).toBe(false)
  })
})
