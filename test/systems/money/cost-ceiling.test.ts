import { type Entity, LastTurn, Llm, type World } from 'entia'
import { Ceilings } from 'entia/context'
import {
  Approval,
  ApprovalOf,
  AwaitingApproval,
  AwaitingReply,
  Busy,
  CostCeiling,
  Due,
  Effect,
  Ledger,
  ModelCall,
  ModelRates,
  Outcome,
  OwnedBy,
  Pending,
  RatesAwaited,
  RatesCall,
  Requested,
  SessionQuery,
  SideCall,
  SubagentWait,
  Turn,
} from 'entia/components'
import { costCeiling, reasoning, retry } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { rawTokensOfCall } from '../../../src/rules/tokens/request-tokens.ts'
import { mostReservedNanoUsd, reservedNanoUsd } from '../../../src/rules/money/spending.ts'
import { isStepHeld } from '../../../systems/kit.ts'
import { transcript } from '../../transcript.ts'
import {
  answered,
  begin,
  caller,
  listener,
  model,
  said,
  saying,
  settleWith,
  thinker,
  tickAt,
  told,
  worldOf,
} from '../one-tick.ts'

const notRun = '[not run: cost ceiling reached]'
const ceilings = Ceilings({ maxSessionCostUsd: 1 })
const latch = CostCeiling({ atMs: 0, bound: 'session', limitUsd: 1, spentUsd: 1.5 })
const priced = { isPriced: true, inputNanoUsdPerMillion: 1_000_000, outputNanoUsdPerMillion: 2_000_000 } as const

/** An agent that is stopped, whose model has asked for these tools. */
function stopped(world: World, ...names: readonly string[]) {
  const wishes = names.map((name) => ({ name }))
  return caller(world, wishes, ceilings, latch)
}

function sideCall(world: World, agent: Entity): Entity {
  return world.spawn(
    SideCall({ agent, ask: '', fromSeq: 0, maxOutputTokens: 5, model, purpose: 'compaction', system: '', toSeq: 1 }),
    Effect({ attempt: 2, kind: 'model', restart: 'pure' }),
  )
}

function lastStop(world: World, agent: Entity) {
  return world.get(agent, LastTurn)?.stop
}

describe('an agent that is stopped by its ceiling', () => {
  it('has no call begun: neither those asked for, nor those that wait for a person or a slot', () => {
    const world = worldOf(costCeiling)
    const { agent, calls } = stopped(world, 'asked', 'approved', 'sent')
    const [, approved = 0, sent = 0] = calls
    world.remove(approved, Requested)
    world.add(approved, AwaitingApproval)
    const approval = world.spawn(
      Approval({ id: 'a', tool: 'approved', arguments: {} }),
      ApprovalOf({ call: approved }),
      OwnedBy({ agent }),
      Pending,
    )
    begin(world, sent, 'once')
    const result = tickAt(world, 5)
    expect(transcript(world, agent).slice(2)).toEqual([
      `tool call-0!: ${notRun}`,
      `tool call-1!: ${notRun}`,
      `tool call-2!: ${notRun}`,
      'assistant: [turn failed: budget-spent]',
    ])
    expect(world.exists(approval)).toBe(false)
    expect(lastStop(world, agent)).toBe('budget-spent')
    expect(told(result)).toEqual(['tool-answered', 'tool-answered', 'tool-answered', 'turn-ended'])
  })

  it('waits for what has begun, and its results stand in call order', () => {
    const world = worldOf(costCeiling)
    const { agent, calls } = stopped(world, 'pure', 'once', 'asked')
    const [pure, once = 0] = calls
    begin(world, pure)
    begin(world, once, 'once', 'running')
    tickAt(world, 0)
    expect([world.has(agent, Turn), world.has(once, Outcome)]).toEqual([true, false])
    settleWith(world, pure, said('first'))
    settleWith(world, once, said('second'))
    tickAt(world, 1)
    expect(transcript(world, agent).slice(2, 5)).toEqual([
      'tool call-0: first',
      'tool call-1: second',
      `tool call-2!: ${notRun}`,
    ])
    expect(lastStop(world, agent)).toBe('budget-spent')
  })

  it('has its question to a session taken back that stands in line; one that is put is waited for', () => {
    const world = worldOf(costCeiling)
    const { agent, calls } = stopped(world, 'query_subagent', 'query_subagent')
    const [put, inLine = 0] = calls
    const session = world.spawn()
    const queries = [put, inLine].map((call) => {
      world.remove(call, Requested)
      world.add(call, AwaitingReply)
      return world.spawn(SessionQuery({ agent, call, id: `${call}`, prompt: '?', session }), OwnedBy({ agent }))
    }) as [Entity, Entity]
    world.add(queries[0], Effect({ attempt: 1, kind: 'query', restart: 'keyed' }))
    world.add(queries[0], Pending)
    tickAt(world, 0)
    expect([world.exists(queries[0]), world.exists(queries[1])]).toEqual([true, false])
    expect([world.has(put, Outcome), world.has(inLine, Outcome), world.has(agent, Turn)]).toEqual([false, true, true])
  })

  it('has its model call in flight waited for, but none that waits for another try', () => {
    const world = worldOf(costCeiling)
    const { agent, call } = thinker(world, ceilings, latch)
    tickAt(world, 0)
    expect([world.has(agent, Turn), world.exists(call)]).toEqual([true, true])
    world.remove(call, Pending)
    world.add(call, Due({ atMs: 9 }))
    tickAt(world, 1)
    expect([lastStop(world, agent), world.exists(call)]).toEqual(['budget-spent', false])
  })

  it('sleeps no longer for its sessions', () => {
    const world = worldOf(costCeiling)
    const { agent } = stopped(world)
    world.remove(agent, Busy)
    world.add(agent, SubagentWait({ deadlineMs: null, mode: 'all', sessions: null, startedAtMs: 0, timeoutMs: null }))
    tickAt(world, 0)
    expect([lastStop(world, agent), world.has(agent, SubagentWait)]).toEqual(['budget-spent', false])
  })

  it('answers a message that had come in before by a turn of no steps', () => {
    const world = worldOf(costCeiling)
    const agent = listener(world, ceilings, latch)
    const { events } = tickAt(world, 0)
    expect(events).toMatchObject([{ type: 'turn-started' }, { type: 'turn-ended', stop: 'budget-spent', steps: 0 }])
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: [turn failed: budget-spent]'])
  })

  it('goes on when its turn is over, if it was reset before that', () => {
    const world = worldOf(costCeiling)
    const { agent, calls } = stopped(world, 'runs')
    begin(world, calls[0])
    world.patch(agent, CostCeiling, { isReset: true })
    tickAt(world, 0)
    expect(world.has(agent, CostCeiling)).toBe(true)
    settleWith(world, calls[0], said('done'))
    tickAt(world, 1)
    expect([world.has(agent, CostCeiling), isStepHeld(world, agent)]).toEqual([false, false])
  })

  it('stays stopped when its turn is over, if what was in flight has reached the ceiling of its life by then', () => {
    const world = worldOf(costCeiling)
    const { agent, calls } = stopped(world, 'runs')
    begin(world, calls[0])
    world.patch(agent, CostCeiling, { bound: 'turn', isReset: true })
    tickAt(world, 0)
    world.add(agent, Ledger({ models: {}, sessionNanoUsd: 2_000_000_000, turnNanoUsd: 2_000_000_000 }))
    settleWith(world, calls[0], said('done'))
    const result = tickAt(world, 1)
    expect(told(result)).toContain('turn-error')
    expect(world.read(agent, CostCeiling)).toEqual({ atMs: 1, bound: 'session', limitUsd: 1, spentUsd: 2 })
    expect(isStepHeld(world, agent)).toBe(true)
  })

  it('makes no further try of a call beside its steps', () => {
    const world = worldOf(retry)
    const agent = listener(world, ceilings, latch)
    const [stoppedCall, other] = [sideCall(world, agent), sideCall(world, listener(world, ceilings))]
    for (const call of [stoppedCall, other]) world.add(call, Due({ atMs: 7 }))
    tickAt(world, 7, { kind: 'due', effect: stoppedCall, attempt: 2 }, { kind: 'due', effect: other, attempt: 2 })
    expect(world.read(stoppedCall, Outcome)).toMatchObject({ ok: false, failure: { kind: 'budget-spent' } })
    expect([world.has(stoppedCall, Pending), world.has(other, Pending)]).toEqual([false, true])
  })
})

describe('an agent under a ceiling', () => {
  it('asks what its model costs before its first step, and waits', () => {
    const world = worldOf(costCeiling, reasoning(9))
    const [agent, other] = [listener(world, ceilings), listener(world, ceilings)]
    tickAt(world, 0)
    const [asked, ...others] = world.query(RatesCall)
    expect([world.read(asked ?? 0, RatesCall), others]).toEqual([{ model }, []])
    expect([agent, other].map((each) => isStepHeld(world, each))).toEqual([true, true])
    expect(world.query(ModelCall)).toEqual([])

    settleWith(world, asked ?? 0, { ok: true, value: { ...priced, contextWindow: 9 } })
    tickAt(world, 1)
    expect(world.query(ModelRates).map((each) => world.read(each, ModelRates))).toEqual([
      { models: { [model]: { ...priced, contextWindow: 9 } } },
    ])
    expect(world.query(RatesAwaited)).toEqual([])
    expect(world.query(ModelCall)).toHaveLength(2)
    tickAt(world, 2)
    expect(world.query(RatesCall)).toEqual([])
  })

  it.each([
    ['a failure', { ok: false, failure: { kind: 'internal', message: 'boom' } }],
    ['something else', { ok: true, value: 7 }],
  ] as const)('takes a model of which it gets to know %s for one without a price', (_what, outcome) => {
    const world = worldOf(costCeiling, reasoning(9))
    const agent = listener(world, ceilings)
    tickAt(world, 0)
    settleWith(world, world.query(RatesCall)[0] ?? 0, outcome)
    const { events } = tickAt(world, 1)
    expect(events).toContainEqual({ type: 'cost-unknown', agent, model })
    expect(world.query(ModelCall)).toHaveLength(1)
  })

  it('asks once more when its model has changed', () => {
    const world = worldOf(costCeiling, reasoning(9))
    const agent = listener(world, ceilings)
    tickAt(world, 0)
    world.patch(agent, Llm, { model: 'scripted/y' })
    settleWith(world, world.query(RatesCall)[0] ?? 0, { ok: true, value: priced })
    tickAt(world, 1)
    expect(world.query(RatesCall).map((asked) => world.read(asked, RatesCall).model)).toEqual(['scripted/y'])
    expect(world.query(ModelCall)).toEqual([])
  })

  it('has what its call may cost set aside until it is settled', () => {
    const world = worldOf(costCeiling, reasoning(9))
    world.spawn(ModelRates({ models: { [model]: priced } }))
    const agent = listener(world, Ceilings({ maxTurnCostUsd: 9 }))
    world.patch(agent, Llm, { maxOutputTokens: 3_000_000 })
    tickAt(world, 0)
    const [call = 0] = world.query(ModelCall)
    expect(rawTokensOfCall(world, call)).toBe(5)
    // Seven tokens by the factor of an unknown model, at a thousandth of a dollar a million.
    expect(reservedNanoUsd(world, agent)).toBe(6_000_000 + 7)
    expect(mostReservedNanoUsd(world, agent)).toBeGreaterThanOrEqual(6_000_000 + 7)
    settleWith(world, call, answered(saying('Hi')))
    expect(reservedNanoUsd(world, agent)).toBe(0)
  })

  it.each([
    ['is told that its first step may pass that of a turn', 0.005, 1],
    ['is told nothing of a step that cannot', 0.007, 0],
  ])('%s', (_, maxTurnCostUsd, times) => {
    const world = worldOf(costCeiling, reasoning(9))
    world.spawn(ModelRates({ models: { [model]: priced } }))
    const agent = listener(world, Ceilings({ maxTurnCostUsd }))
    world.patch(agent, Llm, { maxOutputTokens: 3_000_000 })
    const { events } = tickAt(world, 0)
    expect(events.filter(({ type }) => type === 'cost-ceiling-neared')).toHaveLength(times)
    expect(world.query(ModelCall)).toHaveLength(1)
  })

  it('waits for nothing where it has none', () => {
    const world = worldOf(costCeiling, reasoning(9))
    const agent = listener(world)
    tickAt(world, 0)
    expect([world.query(RatesCall), reservedNanoUsd(world, agent), world.has(agent, Busy)]).toEqual([[], 0, true])
  })
})

describe('what keeps an agent from its step', () => {
  it('is one thing or another, each by itself', () => {
    const world = worldOf()
    const agent = listener(world, latch, RatesAwaited)
    for (const token of [CostCeiling, RatesAwaited]) {
      expect(isStepHeld(world, agent)).toBe(true)
      world.remove(agent, token)
    }
    expect(isStepHeld(world, agent)).toBe(false)
  })
})
