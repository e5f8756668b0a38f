import { Conversation, type Entity, type World } from 'entia'
import { Context } from 'entia/context'
import {
  Boundary,
  Busy,
  CompactionPending,
  CompactionState,
  Effect,
  LastCall,
  Ledger,
  ModelCall,
  Overflowed,
  OwnedBy,
  Rewrite,
  RatesAwaited,
  SideCall,
  Summarizing,
  SummaryTask,
  Turn,
  Unread,
  Unweighed,
} from 'entia/components'
import { cancellation, charging, reply } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { isStepHeld } from '../../../systems/kit.ts'
import { standardCompactor } from '../../../src/rules/context/compactor.ts'
import { compaction as compactionSystem } from '../../../systems/context/compaction.ts'
import { answered, listener, model, saying, settleWith, thinker, tickAt, told, worldOf } from '../one-tick.ts'

const compaction = compactionSystem({ compactor: standardCompactor, maxStartsPerTick: 256 })
const context = Context({ compaction: { maxOutputTokens: 99, timeoutMs: 5_000 } })
const lastCall = (promptTokens: number) => LastCall({ contextWindow: 1_000, model, promptTokens })

/** An agent that was spoken to after a turn which has filled its window. */
function fullListener(world: World): Entity {
  const agent = listener(world, context, lastCall(900), CompactionPending)
  world.splice(agent, Conversation, 0, 0, [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }, saying('Hello.')])
  return agent
}

function sideCallOf(world: World, agent: Entity): Entity {
  const [call] = world.referrers(SideCall, agent)
  if (call === undefined) throw new Error('There is no side call.')
  return call
}

describe('the compaction system', () => {
  it('opens the turn, asks for a handover of what stands before its message, and holds the step', () => {
    const world = worldOf(compaction)
    const agent = fullListener(world)
    const result = tickAt(world, 7)
    const call = sideCallOf(world, agent)
    expect(world.read(call, SideCall)).toMatchObject({
      fromSeq: 0,
      toSeq: 2,
      maxOutputTokens: 99,
      model,
      purpose: 'compaction',
    })
    expect(world.read(call, SideCall)).not.toHaveProperty('carried')
    expect(world.read(call, Effect)).toEqual({ attempt: 1, deadlineMs: 5_007, kind: 'model', restart: 'pure' })
    expect(world.read(call, SummaryTask)).toMatchObject({ by: 'auto', kind: 'summary', requests: [] })
    expect([world.has(agent, Summarizing), isStepHeld(world, agent)]).toEqual([true, true])
    expect(world.read(agent, Turn)).toMatchObject({ fromSeq: 3, steps: 0 })
    expect(told(result)).toEqual(['turn-started', 'summary-started'])
    expect(world.has(call, OwnedBy)).toBe(false)
  })

  it('writes the boundary, enters the cost, and lets the agent go on in the same tick', () => {
    const world = worldOf(charging, compaction)
    const agent = fullListener(world)
    tickAt(world, 0)
    const outcome = answered(saying('# Current state\nFine.'), { input: 10, output: 5 })
    settleWith(world, sideCallOf(world, agent), { ...outcome, value: { ...outcome.value, costNanoUsd: 1_500 } })
    const { events } = tickAt(world, 9)
    expect(world.read(agent, Boundary)).toMatchObject([
      { seq: 2, costUsd: 0.0000015, atMs: 9, text: '# Current state\nFine.' },
    ])
    expect(world.read(agent, Ledger)).toMatchObject({ sessionNanoUsd: 1_500, turnNanoUsd: 1_500 })
    expect([Summarizing, LastCall, CompactionPending].filter((token) => world.has(agent, token))).toEqual([])
    expect(world.read(agent, CompactionState)).toEqual({ failures: 0, isOnTrial: true, turnsToWait: 0 })
    expect(world.read(agent, Rewrite)).toEqual({
      contextWindow: 1_000,
      costNanoUsd: 1_500,
      kind: 'summary',
      tokensBefore: 900,
    })
    expect(events.map(({ type }) => type)).toEqual(['boundary-written'])
    expect(world.query(SideCall)).toEqual([])
  })

  it('gives the outcome of a summary to nobody else, and takes nobody else’s', () => {
    const world = worldOf(compaction)
    const agent = fullListener(world)
    tickAt(world, 0)
    const call = sideCallOf(world, agent)
    world.patch(call, SideCall, { purpose: 'archival-summary' })
    settleWith(world, call, answered(saying('Mine.')))
    tickAt(world, 0)
    expect([world.exists(call), world.has(agent, Boundary)]).toEqual([true, false])
  })

  it('weighs each turn that has ended, once', () => {
    const world = worldOf(compaction)
    const [full, half] = [900, 849].map((tokens) => listener(world, context, lastCall(tokens), Unweighed)) as [
      Entity,
      Entity,
    ]
    for (const agent of [full, half]) world.remove(agent, Unread)
    tickAt(world, 0)
    expect([full, half].map((agent) => world.has(agent, CompactionPending))).toEqual([true, false])
    expect(world.query(Unweighed)).toEqual([])
  })

  it('takes back what was pending, if a turn ends with more room', () => {
    const world = worldOf(compaction)
    const agent = listener(world, context, lastCall(10), CompactionPending, Unweighed)
    world.remove(agent, Unread)
    tickAt(world, 0)
    expect(world.has(agent, CompactionPending)).toBe(false)
  })

  it.each([
    ['the window is not known', { model, promptTokens: 900 }],
    ['the tokens are not known', { model, contextWindow: 1_000 }],
  ])('weighs nothing where %s', (_, data) => {
    const world = worldOf(compaction)
    const agent = listener(world, context, LastCall(data), Unweighed)
    world.remove(agent, Unread)
    tickAt(world, 0)
    expect(world.has(agent, CompactionPending)).toBe(false)
  })

  it('lets an agent that is held, busy or paused be', () => {
    const world = worldOf(compaction)
    const [held, busy] = [fullListener(world), fullListener(world)]
    world.add(held, RatesAwaited)
    world.add(busy, Busy)
    tickAt(world, 0)
    expect(world.query(SideCall)).toEqual([])
    expect([held, busy].every((agent) => world.has(agent, CompactionPending))).toBe(true)
  })

  it('does nothing for agents without a Context', () => {
    const world = worldOf(compaction)
    const agent = listener(world, lastCall(999))
    const { delta } = tickAt(world, 0)
    expect([world.has(agent, Turn), delta.set]).toEqual([false, undefined])
  })
})

describe('a step that was too long', () => {
  it('is taken back, and the agent has it to take once more', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world, context, lastCall(900))
    const failure = { kind: 'context-overflow', message: 'too long' } as const
    settleWith(world, call, { ok: false, failure })
    expect(told(tickAt(world, 0))).toEqual(['model-failed'])
    expect(world.read(agent, Turn).steps).toBe(0)
    expect(world.read(agent, Overflowed)).toEqual({ failure })
    expect([world.has(agent, Unread), world.has(agent, Busy), world.query(ModelCall).length]).toEqual([true, false, 0])
  })

  it('says with what window, if its outcome knows; and that stands nowhere else', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world, context)
    settleWith(world, call, {
      ok: false,
      failure: { kind: 'context-overflow', contextWindow: 1_000, message: 'too long' },
    })
    const { events } = tickAt(world, 0)
    expect(world.has(agent, Overflowed)).toBe(true)
    expect(JSON.stringify([events, world.read(agent, Overflowed)])).not.toContain('contextWindow')
  })
})

describe('the cancel of an agent that only waits for a summary', () => {
  it('stops that, and the outcome comes too late', () => {
    const world = worldOf(compaction, cancellation)
    const agent = listener(world, context)
    world.append(agent, Conversation, saying('Hi'))
    world.remove(agent, Unread)
    tickAt(world, 0, { kind: 'compact', agent, request: 'r1' })
    expect(world.has(agent, Summarizing)).toBe(true)
    const { events } = tickAt(world, 0, { kind: 'cancel', agent })
    expect(events).toMatchObject([
      { type: 'work-cancelled' },
      { type: 'summary-answered', requests: ['r1'], result: { failure: { kind: 'cancelled' } } },
    ])
    expect([world.has(agent, Summarizing), isStepHeld(world, agent), world.query(SideCall).length]).toEqual([
      false,
      false,
      0,
    ])
  })
})
