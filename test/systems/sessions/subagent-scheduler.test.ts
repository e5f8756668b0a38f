import { type Entity, type Input, SubagentRegistry, type World } from 'entia'
import {
  ActiveFor,
  Ancestry,
  AwaitingSession,
  Delegated,
  DelegationLimits,
  Effect,
  EndedInWait,
  ModelCall,
  Notified,
  Outcome,
  OwnedBy,
  Pending,
  ReportedUsage,
  Running,
  SideCall,
  SlotReleased,
  SlotRequest,
  SubagentNotification,
  SubagentSession,
  SubagentWait,
  ToolCall,
  UsageBeside,
} from 'entia/components'
import { subagentScheduler } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { takeRefused } from '../../../src/rules/delegation/refused-requests.ts'
import { transcript } from '../../transcript.ts'
import { caller, listener, settleWith, tickAt, told, worldOf } from '../one-tick.ts'
import { sessionOf, sessionSaid } from './session-records.ts'

const registry = SubagentRegistry({ subagents: { researcher: { name: 'researcher', model: 'worker/x' } } })

/** An agent that may delegate, in a world where nothing else happens. */
function lead(defaultTimeoutMs?: number): { world: World; agent: Entity } {
  const world = worldOf(subagentScheduler(defaultTimeoutMs))
  return { world, agent: listener(world, registry) }
}

function delegate(agent: Entity, changes: object = {}): Input {
  return { kind: 'delegate', agent, category: 'researcher', correlationId: 'c', prompt: 'Look', ...changes }
}

function outcome(effect: Entity): Input {
  return { kind: 'outcome', effect, attempt: 1, outcome: { ok: true, value: null } }
}

function cancel(world: World, agent: Entity, session: Entity): Input {
  return { kind: 'session-cancel', agent, session: world.read(session, SubagentSession).sessionId }
}

/** The session has a slot, as settlement leaves it. */
function admitted(world: World, session: Entity): Input {
  world.remove(session, Pending)
  world.add(session, Running({ sinceMs: 0 }))
  return { kind: 'admitted', effect: session, attempt: 1 }
}

function statusOf(world: World, session: Entity): string {
  return world.read(session, SubagentSession).status
}

describe('a session that a program asks for', () => {
  it('is queued, as an effect that goes on after a restart', () => {
    const { world, agent } = lead(60_000)
    const result = tickAt(world, 5, delegate(agent), delegate(agent, { timeoutMs: 7 }))
    const sessions = world.query(SubagentSession)
    expect(sessions.map((session) => world.read(session, SubagentSession))).toMatchObject([
      { status: 'queued', sequence: 1, createdAtMs: 5, parent: agent, mode: 'background', timeoutMs: 60_000 },
      { status: 'queued', sequence: 2, createdAtMs: 5, parent: agent, mode: 'background', timeoutMs: 7 },
    ])
    for (const session of sessions) {
      expect(world.has(session, Pending)).toBe(true)
      expect(world.read(session, Effect)).toEqual({ attempt: 1, kind: 'session', restart: 'resumable' })
    }
    expect(told(result)).toEqual(['session-queued', 'session-queued'])
  })

  it('that is refused is not there, and its program is told why', () => {
    const { world, agent } = lead()
    const { events } = tickAt(world, 0, delegate(agent, { category: 'ghost' }))
    expect(world.query(SubagentSession)).toEqual([])
    const reason = "Unknown subagent 'ghost'. Available subagents: researcher"
    expect(events).toEqual([])
    expect(takeRefused(world, 'c')).toEqual({ code: 'invalid-argument', reason })
    expect(takeRefused(world, 'c')).toBeUndefined()
  })
})

describe('a session that is admitted', () => {
  it('runs from then on, and its clock starts', () => {
    const { world, agent } = lead()
    const session = sessionOf(world, agent, 'queued', { timeoutMs: 1_000 })
    const result = tickAt(world, 10_000, admitted(world, session))
    expect(world.read(session, SubagentSession)).toMatchObject({
      status: 'running',
      startedAtMs: 10_000,
      deadlineMs: 11_000,
    })
    expect(world.read(session, Effect).deadlineMs).toBe(11_000)
    expect(told(result)).toEqual(['delegation-started'])
  })

  it('in the tick in which it is cancelled never begins', () => {
    const { world, agent } = lead()
    const session = sessionOf(world, agent, 'queued')
    const result = tickAt(world, 0, cancel(world, agent, session), admitted(world, session))
    expect(statusOf(world, session)).toBe('cancelled')
    expect(world.has(session, Running)).toBe(false)
    expect(told(result)).toEqual(['work-cancelled', 'session-ended'])
  })

  it('fails where there is nothing left to be granted', () => {
    const { world, agent } = lead()
    world.set(agent, DelegationLimits, { tokens: 100 })
    const session = sessionOf(world, agent, 'queued')
    world.set(agent, Delegated, {
      finished: 0,
      launched: 1,
      reservedCostNanoUsd: 0,
      reservedSessions: 0,
      reservedTokens: 0,
      spentCostNanoUsd: 0,
      spentSessions: 0,
      spentTokens: 100,
    })
    tickAt(world, 0, admitted(world, session))
    expect(world.read(session, SubagentSession)).toMatchObject({
      status: 'failed',
      error: 'Delegation limit reached: tokens',
    })
  })
})

describe('a session whose effect has ended', () => {
  it('has succeeded, and its parent is to be told in the same tick', () => {
    const { world, agent } = lead()
    const session = sessionOf(world, agent, 'running')
    settleWith(world, session, sessionSaid('Found.'))
    const { events } = tickAt(world, 70, outcome(session))
    const { sessionId } = world.read(session, SubagentSession)
    expect(world.read(session, SubagentSession)).toMatchObject({
      status: 'succeeded',
      finishedAtMs: 70,
      inlineContent: 'Found.',
    })
    expect(world.read(session, SubagentNotification)).toEqual({ id: `${sessionId}:succeeded`, state: 'unread' })
    expect(world.has(agent, Notified)).toBe(true)
    for (const token of [ActiveFor, Effect, Outcome, Pending, Running]) expect(world.has(session, token)).toBe(false)
    expect(events).toMatchObject([
      { type: 'delegation-completed', sessionId, success: true, durationMs: 70, result: 'Found.' },
      { type: 'session-ended', sessionId, lifecycleStatus: 'succeeded' },
    ])
  })

  it.each([
    ['timed-out', 'timed_out', 'Subagent timeout after 0.05s'],
    ['internal', 'failed', 'boom'],
  ] as const)('with a failure of kind %s is %s', (kind, status, error) => {
    const { world, agent } = lead()
    const session = sessionOf(world, agent, 'running', { timeoutMs: 50 })
    settleWith(world, session, { ok: false, failure: { kind, message: 'boom' } })
    tickAt(world, 50)
    expect(world.read(session, SubagentSession)).toMatchObject({ status, error })
  })

  it('with an outcome that is none has failed', () => {
    const { world, agent } = lead()
    const session = sessionOf(world, agent, 'running')
    settleWith(world, session, { ok: true, value: 'nonsense' })
    tickAt(world, 0, outcome(session))
    expect(statusOf(world, session)).toBe('failed')
  })

  it('and was synchronous answers its call with its text, and leaves no notification', () => {
    const world = worldOf(subagentScheduler(undefined))
    const { agent, calls } = caller(world, [{ name: 'subagent' }, { name: 'subagent' }], registry)
    const sessions = calls.map((call) => {
      const session = sessionOf(world, agent, 'running', { mode: 'sync' })
      world.set(call, AwaitingSession, { session })
      settleWith(world, session, sessionSaid(`Found by ${call}.`))
      return session
    })
    tickAt(world, 0, ...sessions.toReversed().map(outcome))
    expect(transcript(world, agent).slice(2)).toEqual(
      calls.map((call, index) => `tool call-${index}: Found by ${call}.`),
    )
    expect(world.query(SubagentNotification)).toEqual([])
    expect(world.query(ToolCall)).toEqual([])
  })

  it('ends in order of arrival among those of its tick', () => {
    const { world, agent } = lead()
    const sessions = ['a', 'b', 'c'].map((text) => {
      const session = sessionOf(world, agent, 'running')
      settleWith(world, session, sessionSaid(text))
      return session
    })
    tickAt(world, 0, ...sessions.toReversed().map(outcome))
    expect(sessions.map((session) => world.read(session, SubagentSession).finishedSequence)).toEqual([3, 2, 1])
  })

  it('is noted in the wait that is about it, and in no other', () => {
    const { world, agent } = lead()
    const [awaited, other] = [sessionOf(world, agent, 'running'), sessionOf(world, agent, 'running')]
    const wait = { deadlineMs: null, mode: 'any' as const, startedAtMs: 0, timeoutMs: null }
    world.set(agent, SubagentWait, { ...wait, sessions: [awaited] })
    for (const session of [awaited, other]) settleWith(world, session, sessionSaid('Found.'))
    tickAt(world, 0, outcome(other), outcome(awaited))
    expect(world.referrers(EndedInWait, agent)).toEqual([awaited])
  })

  it('gives back what it was granted and has not spent', () => {
    const { world, agent } = lead()
    world.set(agent, DelegationLimits, { tokens: 1_000 })
    const session = sessionOf(world, agent, 'queued')
    tickAt(world, 0, admitted(world, session))
    expect(world.read(agent, Delegated)).toMatchObject({ reservedTokens: 250, spentTokens: 0 })
    settleWith(world, session, sessionSaid('Found.'))
    tickAt(world, 0, outcome(session))
    expect(world.read(agent, Delegated)).toMatchObject({ reservedTokens: 0, spentTokens: 110, finished: 1 })
  })

  it('has spent what it had told before, where its end says less: it was given up', () => {
    const { world, agent } = lead()
    const session = sessionOf(world, agent, 'running')
    world.set(session, ReportedUsage, { agent, usage: { calls: 3, sessions: 1, costNanoUsd: 70, input: 500 } })
    const value = { ok: false, error: 'Its workers died.', kind: 'internal', usage: { calls: 0, sessions: 0 } }
    settleWith(world, session, { ok: true, value })
    tickAt(world, 0, outcome(session))
    expect(world.read(session, SubagentSession)).toMatchObject({
      status: 'failed',
      usage: { calls: 3, costNanoUsd: 70 },
    })
  })
})

describe('a session that is cancelled', () => {
  it('leaves no notification, wakes nobody and keeps its grant until it is known what it had spent', () => {
    const { world, agent } = lead()
    world.set(agent, DelegationLimits, { tokens: 1_000 })
    const session = sessionOf(world, agent, 'queued')
    tickAt(world, 0, admitted(world, session))
    tickAt(world, 0, cancel(world, agent, session))
    expect(world.read(session, SubagentSession)).toMatchObject({ status: 'cancelled', error: 'Session was cancelled' })
    expect(world.has(agent, Notified)).toBe(false)
    expect(world.read(agent, Delegated)).toMatchObject({ reservedTokens: 250, spentTokens: 0 })
    // It has not stopped yet.
    const soFar = { isUnderWay: true as const, usage: { calls: 1, input: 20, output: 1, sessions: 0 } }
    tickAt(world, 0, { kind: 'session-spent', session, ...soFar })
    expect(world.read(agent, Delegated)).toMatchObject({ reservedTokens: 250, spentTokens: 0 })
    tickAt(world, 0, { kind: 'session-spent', session, usage: { calls: 1, input: 30, output: 3, sessions: 0 } })
    expect(world.read(agent, Delegated)).toMatchObject({ reservedTokens: 0, spentTokens: 33 })
    // Who gives it up after that knows less.
    tickAt(world, 0, { kind: 'session-spent', session, usage: { calls: 0, sessions: 0 } })
    expect(world.read(agent, Delegated)).toMatchObject({ reservedTokens: 0, spentTokens: 33 })
    expect(world.read(session, SubagentSession).usage).toMatchObject({ calls: 1, input: 30, output: 3 })
  })

  it('is not cancelled by an agent that it does not belong to', () => {
    const { world, agent } = lead()
    const stranger = listener(world, registry)
    const session = sessionOf(world, agent, 'running')
    tickAt(world, 0, cancel(world, stranger, session))
    expect(statusOf(world, session)).toBe('running')
  })
})

describe('the world of a session', () => {
  function child(): { world: World; agent: Entity } {
    const { world, agent } = lead()
    world.set(agent, Ancestry, { sessions: [{ kind: 'named', sessionId: 'session-0000000000000000' }] })
    return { world, agent }
  }

  it('is told what its agent may spend', () => {
    const { world, agent } = child()
    tickAt(world, 0, { kind: 'granted', limits: { depth: 2, sessions: 5 } })
    expect(world.read(agent, DelegationLimits)).toEqual({ depth: 2, sessions: 5 })
  })

  it('cancels its own sessions when it is stopped from above', () => {
    const { world, agent } = child()
    const sessions = [sessionOf(world, agent, 'running'), sessionOf(world, agent, 'queued')]
    tickAt(world, 0, { kind: 'session-stopped', reason: 'Enough.' })
    expect(sessions.map((session) => statusOf(world, session))).toEqual(['cancelled', 'cancelled'])
  })

  it('counts the calls that the stop cuts off, those of summaries too, at an unknown cost, and keeps them', () => {
    const { world, agent } = child()
    const effect = Effect({ kind: 'model', restart: 'pure', attempt: 1 })
    const step = world.spawn(ModelCall({ messages: 1 }), effect, OwnedBy({ agent }), Pending)
    const part = { agent, ask: '', fromSeq: 0, maxOutputTokens: 5, model: 'scripted/x', system: '', toSeq: 1 }
    const summary = world.spawn(SideCall({ ...part, purpose: 'compaction' }), effect, Pending)
    // It waits for its next try, and is charged for the last one.
    world.spawn(ModelCall({ messages: 1 }), effect, OwnedBy({ agent }))
    tickAt(world, 0, { kind: 'session-stopped', reason: 'Enough.' })
    expect(world.get(agent, UsageBeside)).toEqual({ calls: 0, costUnknown: 2 })
    expect([step, summary].map((call) => world.has(call, Pending))).toEqual([true, true])
  })

  it('goes on when its slot is there', () => {
    const { world, agent } = child()
    world.add(agent, SlotReleased)
    const request = world.spawn(SlotRequest, OwnedBy({ agent }))
    world.set(request, Outcome, { ok: true, value: null })
    tickAt(world, 0)
    expect(world.has(agent, SlotReleased)).toBe(false)
    expect(world.query(SlotRequest)).toEqual([])
  })
})
