import { Ceilings, type Entity, LastTurn, Llm, user, Conversation, type World } from 'entia'
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
  Reservation,
  SessionQuery,
  SideCall,
  StepHeld,
  SubagentWait,
  TokenFactors,
  Turn,
} from 'entia/components'
import { costCeiling, reasoning, reply, retry } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { charge } from '../../systems/charge.ts'
import { holdStep } from '../../systems/hold-step.ts'
import { transcript } from '../transcript.ts'
import {
  answered,
  asking,
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
} from './one-tick.ts'

const notRun = '[not run: cost ceiling reached]'
const ceilings = Ceilings({ maxSessionCostUsd: 1 })
const latch = CostCeiling({ atMs: 0, bound: 'session', limitUsd: 1, spentUsd: 1.5 })
const priced = { isPriced: true, inputNanoUsdPerMillion: 1_000_000, outputNanoUsdPerMillion: 2_000_000 } as const

/** An agent that is stopped, whose model has asked for these tools. */
function stopped(world: World, ...names: readonly string[]) {
  const wishes = names.map((name) => ({ name }))
  return caller(world, wishes, ceilings, latch, StepHeld)
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
    const { agent, call } = thinker(world, ceilings, latch, StepHeld)
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
    const agent = listener(world, ceilings, latch, StepHeld)
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
    expect([world.has(agent, CostCeiling), world.has(agent, StepHeld)]).toEqual([false, false])
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
    expect([agent, other].map((each) => world.has(each, StepHeld))).toEqual([true, true])
    expect(world.query(ModelCall)).toEqual([])

    settleWith(world, asked ?? 0, { ok: true, value: { ...priced, contextWindow: 9 } })
    tickAt(world, 1)
    expect(world.query(ModelRates).map((each) => world.read(each, ModelRates))).toEqual([
      { models: { [model]: { ...priced, contextWindow: 9 } } },
    ])
    expect([world.query(RatesAwaited), world.query(StepHeld)]).toEqual([[], []])
    expect(world.query(ModelCall, Reservation)).toHaveLength(2)
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
    const { nanoUsd, rawTokens } = world.read(world.query(ModelCall)[0] ?? 0, Reservation)
    expect(rawTokens).toBe(5)
    // Seven tokens by the factor of an unknown model, at a thousandth of a dollar a million.
    expect(nanoUsd).toBe(6_000_000 + 7)
  })

  it('waits for nothing where it has none', () => {
    const world = worldOf(costCeiling, reasoning(9))
    const agent = listener(world)
    tickAt(world, 0)
    expect([world.query(RatesCall), world.query(Reservation), world.has(agent, Busy)]).toEqual([[], [], true])
  })
})

describe('a charge', () => {
  /** A world that charges an agent, tick by tick, what it is told to. */
  function chargingWorld() {
    let next: (() => void) | undefined
    const world = worldOf({ name: 'charging', priority: 0, run: () => next?.() })
    const charged = (agent: Entity, costUsd: number, call?: Entity) => {
      const spent = { costNanoUsd: costUsd * 1e9, model, usage: { input: 1 }, ...(call !== undefined && { call }) }
      next = () => charge(world, agent, spent)
      return tickAt(world, world.nowMs + 1)
    }
    return { world, charged }
  }

  it('stops the agent in the same tick, once', () => {
    const { world, charged } = chargingWorld()
    const agent = listener(world, Ceilings({ maxSessionCostUsd: 0.1 }))
    const { events } = charged(agent, 0.15)
    expect(events).toMatchObject([{ type: 'turn-error', agent, kind: 'cost_ceiling', retryable: false }])
    expect(world.read(agent, CostCeiling)).toEqual({ atMs: 1, bound: 'session', limitUsd: 0.1, spentUsd: 0.15 })
    expect(world.has(agent, StepHeld)).toBe(true)
    expect(charged(agent, 0.15).events).toEqual([])
    expect(world.read(agent, Ledger).sessionNanoUsd).toBe(300_000_000)
  })

  it('counts for the turn that is open if the call came up in it', () => {
    const { world, charged } = chargingWorld()
    const before = world.spawn()
    const agent = listener(world, ceilings)
    const within = world.spawn()
    world.add(agent, Turn({ since: within, startedAtMs: 0, steps: 1, toolCalls: 0 }))
    const turns = [before, within, undefined].map((call) => {
      charged(agent, 0.1, call)
      return world.read(agent, Ledger).turnNanoUsd
    })
    expect(turns).toEqual([0, 100_000_000, 200_000_000])
    world.remove(agent, Turn)
    charged(agent, 0.1)
    expect(world.read(agent, Ledger)).toMatchObject({ turnNanoUsd: 200_000_000, sessionNanoUsd: 400_000_000 })
  })

  it('is nobody’s where no ledger is kept', () => {
    const { world, charged } = chargingWorld()
    const agent = listener(world)
    charged(agent, 5)
    expect(world.has(agent, Ledger)).toBe(false)
  })
})

describe('the ledger', () => {
  const row = (world: World, agent: Entity) => world.get(agent, Ledger)?.models[model]

  it.each([
    ['overloaded', { calls: 1, costNanoUsd: 0 }],
    ['unauthorized', { calls: 1, costNanoUsd: 0 }],
    ['timed-out', { calls: 1, estimated: 1, input: 7, unpriced: 1 }],
    ['truncated', { calls: 1, estimated: 1, input: 7, unpriced: 1 }],
  ] as const)('has a call that failed for good as %s once', (kind, expected) => {
    const world = worldOf(retry, reply)
    const { agent, call } = thinker(world, ceilings)
    world.patch(agent, Llm, { retry: false })
    settleWith(world, call, { ok: false, failure: { kind, message: 'No.' } })
    tickAt(world, 0)
    expect(row(world, agent)).toEqual(expected)
  })

  it('has a try that was cut off beside the one that came of it; one that was turned away not at all', () => {
    const world = worldOf(retry, reply)
    const { agent, call } = thinker(world, ceilings)
    world.patch(agent, Llm, {
      retry: { maxAttempts: 9, firstDelayMs: 1, maxDelayMs: 1, kinds: ['timed-out', 'overloaded'] },
    })
    for (const kind of ['overloaded', 'timed-out'] as const) {
      settleWith(world, call, { ok: false, failure: { kind, message: 'No.' } })
      tickAt(world, 0)
      world.remove(call, Due)
    }
    expect(row(world, agent)).toMatchObject({ calls: 1, estimated: 1 })
    settleWith(world, call, answered(saying('Hi'), { input: 9, output: 1 }))
    tickAt(world, 0)
    expect(row(world, agent)).toMatchObject({ calls: 2, estimated: 1, input: 16, output: 1 })
  })

  it('has a malformed reply once, by an estimate', () => {
    const world = worldOf(retry, reply)
    const { agent, call } = thinker(world, ceilings)
    settleWith(world, call, { ok: true, value: { message: saying('Hi'), stop: 'end', usage: { input: -1 } } })
    tickAt(world, 0)
    expect(row(world, agent)).toMatchObject({ calls: 1, estimated: 1 })
  })

  it('has a price for an estimate where that is known', () => {
    const world = worldOf(retry, reply)
    world.spawn(ModelRates({ models: { [model]: priced } }))
    const { agent, call } = thinker(world, ceilings)
    settleWith(world, call, answered(saying('Hi')))
    tickAt(world, 0)
    expect(row(world, agent)).toEqual({ calls: 1, costNanoUsd: 21, estimated: 1, input: 7, output: 7 })
  })
})

describe('what a provider counts', () => {
  const long = 'word '.repeat(600)

  function replied(
    world: World,
    text: string,
    usage: Readonly<Record<string, number>>,
    ...parts: Parameters<typeof thinker>[1][]
  ) {
    const { agent, call } = thinker(world, ...parts)
    world.rewrite(agent, Conversation, [user(text)])
    settleWith(world, call, answered(asking({ name: 'look' }), usage))
    tickAt(world, 0)
    return world.get(agent, TokenFactors)?.models[model]
  }

  it('is noted beside what was counted here, of a request that is long enough', () => {
    const usage = { input: 800, cacheRead: 100 }
    expect(replied(worldOf(reply), long, usage, ceilings)?.calls).toEqual([[900, 606]])
    expect(replied(worldOf(reply), 'short', usage, ceilings)).toBeUndefined()
  })

  it('is not noted where the provider says nothing, and of agents that never look ahead', () => {
    expect(replied(worldOf(reply), long, {}, ceilings)).toBeUndefined()
    expect(replied(worldOf(reply), long, { input: 800 })).toBeUndefined()
  })
})

describe('what keeps an agent from its step', () => {
  it('is one thing or another, each by itself', () => {
    const world = worldOf()
    const agent = listener(world, latch, RatesAwaited)
    for (const token of [CostCeiling, RatesAwaited]) {
      holdStep(world, agent)
      expect(world.has(agent, StepHeld)).toBe(true)
      world.remove(agent, token)
    }
    holdStep(world, agent)
    expect(world.has(agent, StepHeld)).toBe(false)
  })
})
