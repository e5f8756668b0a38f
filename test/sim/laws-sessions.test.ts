import { describe, expect, it } from 'vitest'
import {
  Ancestry,
  Blueprint,
  Busy,
  Conversation,
  Delegated,
  DelegationLimits,
  Effect,
  SessionStopped,
  Limits,
  Llm,
  MadeFrom,
  ModelCall,
  Notified,
  Outcome,
  OwnedBy,
  Pending,
  SlotReleased,
  SubagentNotification,
  SubagentSession,
  SubagentWait,
  ToolCall,
  Unread,
  UnreadBy,
} from '../../components/index.ts'
import type { BlueprintData } from '../../components/sessions/blueprint.ts'
import { AwaitingSession } from '../../components/sessions/session-call.ts'
import { ActiveFor, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import type { PoolEvent } from '../../src/sim/index.ts'
import { budgetKept } from '../../src/sim/laws/budget-kept.ts'
import { capKept } from '../../src/sim/laws/cap-kept.ts'
import { fifoKept } from '../../src/sim/laws/fifo-kept.ts'
import { foregroundAwaited } from '../../src/sim/laws/foreground-awaited.ts'
import { nothingWaitsInVain } from '../../src/sim/laws/nothing-waits-in-vain.ts'
import { notifiedOnce } from '../../src/sim/laws/notified-once.ts'
import { sessionTransitionsLegal } from '../../src/sim/laws/session-transitions-legal.ts'
import { nothingDelegated } from '../../src/rules/delegation/grants.ts'
import { tick } from '../../src/world/tick.ts'
import type { World } from '../../src/world/world.ts'
import { run, underLaw, watched, watchedTick, worldOf } from './law-under-test.ts'

type Step = (world: World) => unknown

const sessionId = 'session-00000000000000aa'

function record(fields: Partial<SubagentSessionData>): SubagentSessionData {
  return {
    category: 'scout',
    correlationId: 'c',
    createdAtMs: 0,
    kind: 'named',
    mode: 'background',
    model: 'scout/x',
    parent: 1,
    prompt: 'Look',
    sequence: 1,
    sessionId,
    status: 'queued',
    updatedAtMs: 0,
    ...fields,
  }
}

/** Agent 1, and what happens to it. */
function team(...steps: readonly Step[]): World {
  const world = worldOf(...steps)
  world.spawn(Llm({ model: 'lead/x' }), Conversation([]))
  return world
}

/** What a law says of the last of these ticks; of those before it, nothing. */
function lastOf(law: Parameters<typeof underLaw>[0], ...steps: readonly Step[]) {
  const under = underLaw(law, team(...steps))
  expect(under.begin()).toBeUndefined()
  for (const _ of steps.slice(1)) expect(under.tick()).toBeUndefined()
  return under.tick()
}

const all =
  (...steps: readonly Step[]): Step =>
  (world) => {
    for (const step of steps) step(world)
  }
const launch: Step = (world) => {
  world.set(world.spawn(), SubagentSession, record({}))
}
const becomes =
  (fields: Partial<SubagentSessionData>): Step =>
  (world) =>
    world.patch(2, SubagentSession, fields)
const notify =
  (state: 'unread' | 'read', status = 'succeeded'): Step =>
  (world) => {
    world.set(2, SubagentNotification, { id: `${sessionId}:${status}`, state })
    if (state === 'unread') world.set(2, UnreadBy, { agent: 1 })
    else world.remove(2, UnreadBy)
    world.add(1, Notified)
  }
const tells =
  (text: string): Step =>
  (world) =>
    world.append(1, Conversation, { role: 'system', content: [{ type: 'text', text }] })
const runs = becomes({ status: 'running' })
const succeeds = becomes({ status: 'succeeded' })
const news = `Background subagent updates:\n- ${sessionId} succeeded. Call subagent_result.`

describe('session-transitions-legal', () => {
  it('is kept from the launch to the end, and by a session that is called off as it is launched', () => {
    expect(lastOf(sessionTransitionsLegal, launch, runs, succeeds, becomes({ closed: true }))).toBeUndefined()
    expect(lastOf(sessionTransitionsLegal, all(launch, becomes({ status: 'cancelled' })))).toBeUndefined()
  })

  it('is broken by a session that goes on after its end', () => {
    const again: Step = (world) => {
      world.remove(2, SubagentSession)
      world.set(2, SubagentSession, record({ status: 'running' }))
    }
    const said = lastOf(sessionTransitionsLegal, launch, runs, succeeds, again)
    expect(said).toBe(`session ${sessionId} was succeeded, which is final, and became running`)
  })

  it('is broken by a session that asks for something after the tick in which it was stopped', () => {
    const asks: Step = (world) => world.spawn(Effect({ kind: 'model', restart: 'pure', attempt: 1 }))
    const stops: Step = (world) => {
      asks(world)
      world.add(1, SessionStopped)
    }
    expect(lastOf(sessionTransitionsLegal, stops)).toBeUndefined()
    expect(lastOf(sessionTransitionsLegal, stops, asks)).toMatch(/^it was stopped, and asks for effect \d$/)
  })

  it('is broken by a session that succeeds without having run', () => {
    const succeeded: Step = (world) => {
      world.remove(2, SubagentSession)
      world.set(2, SubagentSession, record({ status: 'succeeded' }))
    }
    expect(lastOf(sessionTransitionsLegal, launch, succeeded)).toBe(
      `session ${sessionId} was queued, and became succeeded`,
    )
  })

  it('is broken by another end than there was', () => {
    const fails = becomes({ status: 'failed', error: 'boom' })
    const said = lastOf(sessionTransitionsLegal, launch, fails, becomes({ error: 'bang' }))
    expect(said).toBe(`the record of session ${sessionId} (failed) has changed: error was boom, and is bang`)
  })

  it('is broken by a world that comes back with a session that had ended', () => {
    const under = underLaw(sessionTransitionsLegal, team(launch, runs, succeeds))
    under.begin()
    for (let tick = 0; tick < 3; tick++) under.tick()
    const again = team()
    again.spawn(SubagentSession(record({ status: 'running' })))
    expect(under.begin(again)).toContain(`when its world was restored, session ${sessionId} was succeeded`)
  })
})

const entered = (key: string, place: 'first' | 'return' = 'first'): PoolEvent => ({ type: 'entered', key, place })
const granted = (key: string): PoolEvent => ({ type: 'granted', key })
const left = (key: string): PoolEvent => ({ type: 'left', key })

/** What a law says of the last of these; of those before it, nothing. */
function poolSays(law: typeof capKept, ...events: readonly PoolEvent[]) {
  const watch = law.watch(run(1))
  const said = events.map((event) => watch.pool?.(event))
  expect(said.slice(0, -1).filter((finding) => finding !== undefined)).toEqual([])
  return said.at(-1)
}

/** The world of a session, as it is driven. */
function sessionWorld(...steps: readonly Step[]) {
  const world = worldOf(...steps)
  world.spawn(Llm({ model: 'scout/x' }), Ancestry({ sessions: [{ kind: 'named', sessionId }] }))
  const seen = { ...watched(world), label: 'team/1.1', path: [sessionId], inSlot: true }
  return { world, seen }
}

describe('cap-kept', () => {
  it('is broken by one more slot than there are', () => {
    const said = poolSays(capKept, entered('1/a'), granted('1/a'), entered('1/b'), granted('1/b'))
    expect(said).toBe('2 sessions hold a slot, and there are 1: a, b')
    expect(poolSays(capKept, granted('1/a'), left('1/a'), granted('1/b'))).toBeUndefined()
  })

  it('is broken by a session that begins, calls or goes on without a slot', () => {
    const { seen } = sessionWorld()
    const watch = capKept.watch(run(1))
    expect(watch.began?.(seen)).toBe(`session ${sessionId} begins without a slot`)
    watch.pool?.(granted(`7/${sessionId}`))
    expect(watch.began?.(seen)).toBeUndefined()
    watch.pool?.(left(`7/${sessionId}`))
    const call = { kind: 'tool', name: 'look', effect: 2, attempt: 1, restart: 'pure' } as const
    expect(watch.called?.({ ...seen, ...call })).toBe(`session ${sessionId} calls tool 'look' without a slot`)
  })

  it('is broken by a slot that is given back while a tool is at work', () => {
    const { seen, world } = sessionWorld(
      () => world.spawn(OwnedBy({ agent: 1 }), Effect({ attempt: 1, kind: 'tool', restart: 'pure' }), Pending),
      () => world.add(1, SlotReleased),
    )
    const watch = capKept.watch(run(1))
    watch.pool?.(granted(`7/${sessionId}`))
    watch.began?.(seen)
    const says = () => watch.ticked?.(watchedTick(seen, tick(world)))
    expect(says()).toBeUndefined()
    expect(says()).toBe(`session ${sessionId} gives its slot back while its tool effect 2 is in flight`)
  })
})

describe('a session that takes its slot again', () => {
  const again = (...between: readonly PoolEvent[]) => {
    const { seen, world } = sessionWorld(
      () => world.add(1, SlotReleased),
      () => world.remove(1, SlotReleased),
    )
    const watch = capKept.watch(run(1))
    const key = `7/${sessionId}`
    watch.pool?.(granted(key))
    watch.began?.(seen)
    watch.ticked?.(watchedTick(seen, tick(world)))
    watch.pool?.(left(key))
    for (const event of between) watch.pool?.(event)
    const step = tick(world)
    return { goesOn: () => watch.ticked?.(watchedTick(seen, step)), leaves: () => watch.pool?.(left(key)) }
  }

  it('breaks cap-kept without one', () => {
    expect(again().goesOn()).toBe(`session ${sessionId} goes on without a slot`)
  })

  it('keeps it where it is stopped while its tick is being committed', () => {
    const { goesOn, leaves } = again(granted(`7/${sessionId}`))
    leaves()
    expect(goesOn()).toBeUndefined()
  })
})

describe('fifo-kept', () => {
  it('is broken by who is served before somebody that came earlier', () => {
    const said = poolSays(fifoKept, entered('a'), granted('a'), entered('b'), entered('c'), left('a'), granted('c'))
    expect(said).toBe('c was given a slot, and b has stood in line for longer')
  })

  it('is broken by who is served for the first time before somebody that has come back', () => {
    const waiting = [entered('a'), granted('a'), entered('b'), entered('c', 'return'), left('a')] as const
    expect(poolSays(fifoKept, ...waiting, granted('c'))).toBeUndefined()
    const said = poolSays(fifoKept, ...waiting, granted('b'))
    expect(said).toBe('b was given a slot, and c, which had one before and came back, still waits')
  })

  it('is kept by a slot that was given just before somebody came back', () => {
    const said = poolSays(
      fifoKept,
      entered('a'),
      granted('a'),
      entered('b'),
      left('a'),
      entered('a', 'return'),
      granted('b'),
    )
    expect(said).toBeUndefined()
  })

  it('begins anew with the process', () => {
    const watch = fifoKept.watch(run(1))
    watch.pool?.(entered('a'))
    watch.crashed?.()
    watch.pool?.(entered('b'))
    expect(watch.pool?.(granted('b'))).toBeUndefined()
    expect(watch.pool?.(granted('a'))).toBe('a was given a slot and did not stand in line')
  })
})

describe('foreground-awaited', () => {
  const launchAwaited: Step = (world) => {
    world.set(world.spawn(), SubagentSession, record({ mode: 'sync' }))
    world.set(world.spawn(), AwaitingSession, { session: 2 })
  }
  const callEnds: Step = (world) => world.despawn(3)

  it('is kept by a session that ends with its call, and by one in the background', () => {
    const cancelled = becomes({ status: 'cancelled' })
    expect(lastOf(foregroundAwaited, launchAwaited, runs, all(callEnds, cancelled), tells('x'))).toBeUndefined()
    expect(lastOf(foregroundAwaited, launch, runs)).toBeUndefined()
  })

  it('is broken by a session that works on without the call that has launched it', () => {
    const said = `session ${sessionId} is running in the foreground, and no call waits for it`
    expect(lastOf(foregroundAwaited, launchAwaited, runs, callEnds)).toBe(said)
    expect(lastOf(foregroundAwaited, launchAwaited, runs, (world) => world.remove(3, AwaitingSession))).toBe(said)
  })

  it('is broken by one that no call has launched, and by one that a restored world has so', () => {
    const alone: Step = (world) => world.set(world.spawn(), SubagentSession, record({ mode: 'sync' }))
    const said = `session ${sessionId} is queued in the foreground, and no call waits for it`
    expect(lastOf(foregroundAwaited, alone)).toBe(said)
    const world = team(alone, tells('x'))
    tick(world, [])
    const under = underLaw(foregroundAwaited, world)
    expect([under.begin(), under.tick()]).toEqual([undefined, said])
  })
})

describe('notified-once', () => {
  it('is kept by a notification that is told in one message, and by an answer about the session', () => {
    expect(
      lastOf(notifiedOnce, launch, runs, all(succeeds, notify('unread')), all(notify('read'), tells(news))),
    ).toBeUndefined()
    const collected: Step = (world) => {
      notify('read')(world)
      world.append(1, Conversation, {
        role: 'tool',
        callId: 'a',
        name: 'subagent_result',
        content: [{ type: 'text', text: sessionId }],
      })
    }
    expect(lastOf(notifiedOnce, launch, runs, all(succeeds, notify('unread')), collected)).toBeUndefined()
  })

  it('is broken by an end of which nobody hears', () => {
    const said = lastOf(notifiedOnce, launch, runs, succeeds)
    expect(said).toBe(
      `session ${sessionId} (background) is succeeded, which leaves the notification '${sessionId}:succeeded', and there is none`,
    )
  })

  it('is broken by a notification of what was called off', () => {
    const said = lastOf(notifiedOnce, launch, all(becomes({ status: 'cancelled' }), notify('unread', 'cancelled')))
    expect(said).toBe(
      `session ${sessionId} (background) is cancelled, which leaves none, and there is '${sessionId}:cancelled'`,
    )
  })

  it('is broken by news that is told again, or unread again', () => {
    const told = [launch, runs, all(succeeds, notify('unread')), all(notify('read'), tells(news))]
    expect(lastOf(notifiedOnce, ...told, tells(news))).toBe(
      `agent 1 is notified a second time that session ${sessionId} has ended`,
    )
    expect(lastOf(notifiedOnce, ...told, notify('unread'))).toBe(
      `the notification '${sessionId}:succeeded' was read, and is unread again`,
    )
  })

  it('is broken by a notification that is read in silence', () => {
    const said = lastOf(notifiedOnce, launch, runs, all(succeeds, notify('unread')), notify('read'))
    expect(said).toBe(
      `the notification '${sessionId}:succeeded' was marked as read, and agent 1 was not notified of it`,
    )
  })

  it('is broken by news of a session that still runs', () => {
    expect(lastOf(notifiedOnce, launch, runs, tells(news))).toBe(
      `agent 1 is notified that session ${sessionId} has ended, and it has not`,
    )
  })
})

const counts =
  (fields: Partial<typeof nothingDelegated>): Step =>
  (world) =>
    world.set(1, Delegated, { ...nothingDelegated, ...fields })
const launched = all(launch, counts({ launched: 1 }))
const admitted = all(
  becomes({ status: 'running', grant: { sessions: 2, tokens: 30 } }),
  counts({ launched: 1, reservedSessions: 2, reservedTokens: 30 }),
)
const ended = becomes({ status: 'succeeded', grant: undefined, usage: { calls: 1, output: 40, sessions: 1 } })

describe('budget-kept', () => {
  it('is kept by a session that returns what it has not spent, and by calls in flight that spend more', () => {
    const returned = counts({ launched: 1, finished: 1, spentTokens: 40, spentSessions: 1 })
    expect(lastOf(budgetKept, launched, admitted, all(ended, returned))).toBeUndefined()
  })

  it('is broken by a launch that is not counted', () => {
    expect(lastOf(budgetKept, launch)).toBe('agent 1 has launched 1 sessions, and counts 0')
  })

  it('is broken by a grant that is not set aside, or not the same', () => {
    expect(lastOf(budgetKept, launched, becomes({ status: 'running', grant: { sessions: 2 } }))).toBe(
      'agent 1 has 0 sessions reserved, and its sessions were granted 2',
    )
    const more = becomes({ grant: { sessions: 3, tokens: 30 } })
    expect(lastOf(budgetKept, launched, admitted, more)).toBe(`the grant of session ${sessionId} has changed`)
  })

  it('is broken by spending that is not counted', () => {
    const forgotten = counts({ launched: 1, finished: 1, spentSessions: 1 })
    expect(lastOf(budgetKept, launched, admitted, all(ended, forgotten))).toBe(
      'agent 1 counts 0 more tokens as spent, and sessions that ended have used 40',
    )
  })

  it('is broken by more than there is', () => {
    const limit: Step = (world) => world.set(1, DelegationLimits, { tokens: 20 })
    expect(lastOf(budgetKept, limit, launched, admitted)).toBe(
      'agent 1 has given 30 tokens away for sessions, and had 20 left of 20',
    )
    const none: Step = (world) => world.set(1, DelegationLimits, { sessions: 0 })
    expect(lastOf(budgetKept, none, launched)).toBe(
      'agent 1 has given 1 sessions away for sessions, and had 0 left of 0',
    )
    const flat: Step = (world) => world.set(1, DelegationLimits, { depth: 0 })
    expect(lastOf(budgetKept, flat, launched)).toBe('agent 1 has launched a session, and may have none below it')
  })

  describe('reckons a grant itself', () => {
    const limits: Step = (world) => world.set(1, DelegationLimits, { costUsd: 1, sessions: 21, tokens: 1_000 })
    const blueprint = ({ limits: named, registry }: Partial<BlueprintData>): Step => {
      return (world) => {
        const made = { hash: '', hostSkills: [], hostTools: [], llm: { model: 'm/x' }, maxSteps: 1, skills: [] }
        const own = { ...(named && { limits: named }), ...(registry && { registry }) }
        world.set(3, Blueprint, { ...made, template: '', tools: [], ...own })
        world.set(2, MadeFrom, { blueprint: 3 })
      }
    }
    const delegates = blueprint({ registry: { subagents: {} } })
    const launches = (own: Step): Step => all(launched, (world) => world.spawn(), own)
    /** What there is of it when it is admitted: its blueprint goes in the same tick. */
    const granted = (sessions: number, tokens: number, nanoUsd: number): Step =>
      all(
        becomes({ status: 'running', grant: { costUsd: nanoUsd / 1e9, sessions, tokens } }),
        counts({ launched: 1, reservedCostNanoUsd: nanoUsd, reservedSessions: sessions, reservedTokens: tokens }),
        (world) => world.despawn(3),
      )

    it('and is kept by a quarter of what is left, and by what a config names', () => {
      expect(lastOf(budgetKept, limits, launches(delegates), granted(5, 250, 250_000_000))).toBeUndefined()
      const names = blueprint({ limits: { costUsd: 0.5, tokens: 700 } })
      expect(lastOf(budgetKept, limits, launches(names), granted(0, 700, 500_000_000))).toBeUndefined()
    })

    it.for([
      ['tokens', delegates, granted(5, 500, 250_000_000), '500 tokens, and a quarter of what was left is 250'],
      ['sessions', delegates, granted(10, 250, 250_000_000), '10 sessions, and a quarter of what was left is 5'],
      ['money', delegates, granted(5, 250, 5), '5 cost, and a quarter of what was left is 250000000'],
      ['sessions to one without tools', blueprint({}), granted(5, 250, 250_000_000), '5 sessions, and cannot delegate'],
      [
        'not what its config names',
        blueprint({ limits: { tokens: 70 } }),
        granted(0, 250, 250_000_000),
        '250 tokens, and its config names 70',
      ],
    ] as const)('and is broken by another one: %s', ([, own, admission, problem]) => {
      expect(lastOf(budgetKept, limits, launches(own), admission)).toBe(
        `agent 1 has granted session entity 2 ${problem}`,
      )
    })
  })

  it('is broken by a step and by a tool call too many', () => {
    const bounded: Step = (world) => world.set(1, Limits, { maxSteps: 1, maxToolCalls: 1 })
    const step: Step = (world) => world.spawn(ModelCall({ messages: 1 }), OwnedBy({ agent: 1 }))
    expect(lastOf(budgetKept, bounded, step, step)).toBe('agent 1 takes step 2 of a turn that may have 1')
    const call: Step = (world) => world.emit({ type: 'tool-called', agent: 1 })
    expect(lastOf(budgetKept, bounded, call, call)).toBe('agent 1 runs tool call 2 of a turn that may have 1')
  })

  it('is broken by a session whose grant is spent and that asks its model all the same', () => {
    const spent: Step = (world) => {
      world.add(1, Ancestry({ sessions: [{ kind: 'named', sessionId }] }))
      world.set(1, DelegationLimits, { tokens: 30 })
      counts({ spentTokens: 0, reservedTokens: 0 })(world)
    }
    const asks: Step = (world) => {
      world.set(1, DelegationLimits, { tokens: 0 })
      world.spawn(ModelCall({ messages: 1 }), OwnedBy({ agent: 1 }))
    }
    expect(lastOf(budgetKept, spent, asks)).toBe(
      'agent 1 calls its model, and has no tokens left: 0 of 0 are used or reserved',
    )
  })
})

const call = ToolCall({ arguments: {}, callId: 'a', name: 'look' })
const waits: Step = (world) => {
  world.spawn(SubagentSession(record({})), Effect({ attempt: 1, kind: 'session', restart: 'resumable' }), Pending)
  world.set(2, ActiveFor, { agent: 1 })
  world.set(1, SubagentWait, { deadlineMs: null, mode: 'all', sessions: [2], startedAtMs: 0, timeoutMs: null })
}

describe('nothing-waits-in-vain', () => {
  it('is broken at the end by a message that nobody has answered, whatever marks there are', () => {
    const said = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello?' }] }
    const world = team(
      (each) => each.append(1, Conversation, said),
      (each) => each.remove(1, Unread),
    )
    const law = underLaw(nothingWaitsInVain, world)
    law.begin()
    law.tick()
    law.tick()
    expect(law.watch.finished?.(new Map([['world', watched(world)]]))).toBe(
      'all is over, and in world the conversation of agent 1 ends in what it has not answered',
    )
  })

  it('is broken by an effect that is neither under way nor settled', () => {
    const begins: Step = (world) => world.spawn(Effect({ attempt: 1, kind: 'model', restart: 'pure' }), Pending)
    expect(lastOf(nothingWaitsInVain, begins, (world) => world.remove(2, Pending))).toBe(
      'the model effect 2 is neither under way nor settled',
    )
  })

  it('is broken by an outcome that nobody takes', () => {
    const begins: Step = (world) => world.spawn(Effect({ attempt: 1, kind: 'query', restart: 'pure' }), Pending)
    const settles: Step = (world) => {
      world.remove(2, Pending)
      world.set(2, Outcome, { ok: true, value: null })
    }
    expect(lastOf(nothingWaitsInVain, begins, settles)).toBe('no system takes the outcome of the query effect 2')
  })

  it('is broken by a busy agent of whose step nothing is open', () => {
    const asks: Step = (world) => {
      world.add(1, Busy)
      world.spawn(call, OwnedBy({ agent: 1 }), Effect({ attempt: 1, kind: 'tool', restart: 'pure' }), Pending)
    }
    expect(lastOf(nothingWaitsInVain, asks, (world) => world.despawn(2))).toBe(
      'agent 1 is busy, and nothing of its step is open',
    )
  })

  it('is broken by a sleep that goes on when all sessions have ended', () => {
    const ends: Step = (world) => {
      world.patch(2, SubagentSession, { status: 'cancelled' })
      for (const token of [ActiveFor, Effect, Pending]) world.remove(2, token)
    }
    expect(lastOf(nothingWaitsInVain, waits, ends)).toBe('agent 1 sleeps, and what it waits for is there')
  })

  it('is kept where another tick comes at once, and broken where that changes nothing', () => {
    const ends: Step = (world) => {
      world.patch(2, SubagentSession, { status: 'cancelled' })
      for (const token of [ActiveFor, Effect, Pending]) world.remove(2, token)
      world.requestTick()
    }
    expect(lastOf(nothingWaitsInVain, waits, ends)).toBeUndefined()
    expect(lastOf(nothingWaitsInVain, waits, ends, () => undefined)).toBe(
      'agent 1 sleeps, and what it waits for is there',
    )
  })

  it('is broken by a session that is active and has nothing under way', () => {
    expect(
      lastOf(nothingWaitsInVain, waits, (world) =>
        all((w) => w.remove(2, Pending), becomes({ updatedAtMs: 1 }))(world),
      ),
    ).toMatch(/^(the session effect 2 is neither|session \S+ is queued, and nothing is under way)/)
  })

  it('is broken by whatever is open when all is over', () => {
    const world = team(waits)
    const under = underLaw(nothingWaitsInVain, world)
    under.begin()
    under.tick()
    const said = under.watch.finished?.(new Map([['team', watched(world)]]))
    expect(said).toBe('all is over, and in world the session effect 2 is open')
  })
})
