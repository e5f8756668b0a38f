import { Conversation, type Entity, Llm, user, type World } from 'entia'
import { Ceilings } from 'entia/context'
import {
  CostCeiling,
  Delegated,
  Due,
  Effect,
  Ledger,
  ModelRates,
  OwnedBy,
  SessionQuery,
  TokenFactors,
  Turn,
  Usage,
} from 'entia/components'
import { cancellation, charging, reply, retry } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { isStepHeld } from '../../../systems/kit.ts'
import { charge } from '../../../systems/money/charge.ts'
import { countCalls } from '../../../systems/money/count-calls.ts'
import { sessionOf } from '../sessions/session-records.ts'
import { answered, asking, listener, model, saying, settleWith, thinker, tickAt, worldOf } from '../one-tick.ts'

const ceilings = Ceilings({ maxSessionCostUsd: 1 })
const priced = { isPriced: true, inputNanoUsdPerMillion: 1_000_000, outputNanoUsdPerMillion: 2_000_000 } as const

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
    expect(isStepHeld(world, agent)).toBe(true)
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

  it('of an agent that was saved without a ledger is added to what its own calls had cost', () => {
    const { world, charged } = chargingWorld()
    const agent = listener(world, Usage({ calls: 3, costNanoUsd: 9, input: 30 }))
    world.add(
      agent,
      Turn({ since: 1, startedAtMs: 0, steps: 1, toolCalls: 0, usedBefore: { calls: 2, costNanoUsd: 4 } }),
    )
    charged(agent, 5e-9)
    expect(world.read(agent, Ledger)).toMatchObject({ sessionNanoUsd: 14, turnNanoUsd: 10 })
  })
})

describe('the ledger', () => {
  const row = (world: World, agent: Entity) => world.get(agent, Ledger)?.models[model]

  it.each([
    ['overloaded', { calls: 1, costNanoUsd: 0 }],
    ['unauthorized', { calls: 1, costNanoUsd: 0 }],
    ['timed-out', { calls: 1, estimated: 1, input: 7 }],
    ['truncated', { calls: 1, estimated: 1, input: 7 }],
  ] as const)('has a call that failed for good as %s once', (kind, expected) => {
    const world = worldOf(charging, retry, reply)
    const { agent, call } = thinker(world, ceilings)
    world.patch(agent, Llm, { retry: false })
    settleWith(world, call, { ok: false, failure: { kind, message: 'No.' } })
    tickAt(world, 0)
    expect(row(world, agent)).toEqual(expected)
  })

  it('has a try that was cut off beside the one that came of it; one that was turned away not at all', () => {
    const world = worldOf(charging, retry, reply)
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
    const world = worldOf(charging, retry, reply)
    const { agent, call } = thinker(world, ceilings)
    settleWith(world, call, { ok: true, value: { message: saying('Hi'), stop: 'end', usage: { input: -1 } } })
    tickAt(world, 0)
    expect(row(world, agent)).toMatchObject({ calls: 1, estimated: 1 })
  })

  it('has a price for an estimate where that is known', () => {
    const world = worldOf(charging, retry, reply)
    world.spawn(ModelRates({ models: { [model]: priced } }))
    const { agent, call } = thinker(world, ceilings)
    settleWith(world, call, answered(saying('Hi')))
    tickAt(world, 0)
    expect(row(world, agent)).toEqual({ calls: 1, costNanoUsd: 21, estimated: 1, input: 7, output: 7 })
  })
})

describe('an agent that is cancelled', () => {
  const cancel = (agent: Entity) => ({ kind: 'cancel', agent })

  it('has a call in its ledger that is under way, and one whose reply comes in the same tick, once', () => {
    const world = worldOf(charging, cancellation)
    const { agent, call } = thinker(world, ceilings)
    const replied = thinker(world, ceilings)
    settleWith(world, replied.call, answered(saying('Hi'), { input: 9, output: 1 }))
    tickAt(world, 0, cancel(agent), cancel(replied.agent))
    expect([world.exists(call), world.exists(replied.call)]).toEqual([false, false])
    expect(world.read(agent, Ledger).models[model]).toMatchObject({ calls: 1, estimated: 1, input: 7 })
    expect(world.read(replied.agent, Ledger).models[model]).toEqual({ calls: 1, input: 9, output: 1, unpriced: 1 })
  })

  it('pays for a question whose answer comes in the same tick', () => {
    const world = worldOf(charging, cancellation)
    const { agent } = thinker(world, ceilings)
    const session = sessionOf(world, agent, 'succeeded')
    const question = SessionQuery({ agent, id: 'query-1', prompt: 'Why?', session })
    const query = world.spawn(question, OwnedBy({ agent }), Effect({ attempt: 1, kind: 'query', restart: 'keyed' }))
    const usage = { calls: 2, costNanoUsd: 700, input: 5, sessions: 1 }
    settleWith(world, query, { ok: true, value: { ok: true, text: 'So.', usage } })
    tickAt(world, 0, cancel(agent))
    expect(world.exists(query)).toBe(false)
    expect(world.read(agent, Ledger).models['worker/x']).toEqual({ calls: 2, costNanoUsd: 700, input: 5 })
    expect(world.read(agent, Delegated)).toMatchObject({ spentCostNanoUsd: 700, spentSessions: 1, spentTokens: 5 })
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
    expect(world.has(agent, TokenFactors)).toBe(false)
    countCalls(world, agent)
    return world.get(agent, TokenFactors)?.models[model]
  }

  it('is noted beside what is counted here once an estimate is asked for, of a request that is long enough', () => {
    const usage = { input: 800, cacheRead: 100 }
    expect(replied(worldOf(reply), long, usage, ceilings)?.calls).toEqual([[900, 606]])
    expect(replied(worldOf(reply), 'short', usage, ceilings)).toBeUndefined()
  })

  it('is not noted where the provider says nothing, and of agents that never look ahead', () => {
    expect(replied(worldOf(reply), long, {}, ceilings)).toBeUndefined()
    expect(replied(worldOf(reply), long, { input: 800 })).toBeUndefined()
  })
})
