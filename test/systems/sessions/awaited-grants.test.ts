import { type Entity, type Input, type System, type World } from 'entia'
import { Delegated, DelegationLimits, GrantAwaited, Pending, Running, SubagentSession } from 'entia/components'
import { awaitedGrants, subagentScheduler } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { listener, tickAt, worldOf } from '../one-tick.ts'
import { sessionOf } from './session-records.ts'

const allReserved = {
  finished: 0,
  launched: 2,
  reservedCostNanoUsd: 0,
  reservedSessions: 0,
  reservedTokens: 100,
  spentCostNanoUsd: 0,
  spentSessions: 0,
  spentTokens: 0,
}

/** Gives all that is reserved back, in ticks that bring this input. */
const givesBack: System = {
  name: 'gives-back',
  priority: 1,
  run(world) {
    if (world.inputs.every(({ kind }) => kind !== 'message')) return
    for (const agent of world.query(Delegated)) world.set(agent, Delegated, { ...allReserved, reservedTokens: 0 })
  },
}

/** An agent all of whose tokens are reserved, with queued sessions. */
function lead(sessions: number, tokens = 100): { world: World; agent: Entity; queued: Entity[] } {
  const world = worldOf(subagentScheduler(undefined), givesBack, awaitedGrants)
  const agent = listener(world, DelegationLimits({ tokens }), Delegated({ ...allReserved, reservedTokens: tokens }))
  return { world, agent, queued: Array.from({ length: sessions }, () => sessionOf(world, agent, 'queued')) }
}

/** The session has a slot, as settlement leaves it. */
function admitted(world: World, session: Entity): Input {
  world.remove(session, Pending)
  world.add(session, Running({ sinceMs: 0 }))
  return { kind: 'admitted', effect: session, attempt: 1 }
}

const returned = (agent: Entity): Input => ({ kind: 'message', to: agent, text: 'Back' })

const waiting = (world: World, sessions: readonly Entity[]) =>
  sessions.map((session) => world.has(session, GrantAwaited))

describe('a session whose budget others have reserved', () => {
  it('waits, in line again, and asks once it has come back', () => {
    const { world, agent, queued } = lead(1)
    const [session = -1] = queued
    tickAt(world, 0, admitted(world, session))
    expect(waiting(world, queued)).toEqual([true])
    expect(world.read(session, SubagentSession).status).toBe('queued')
    expect([world.has(session, Pending), world.has(session, Running)]).toEqual([true, false])
    tickAt(world, 1)
    expect(waiting(world, queued)).toEqual([true])
    expect(tickAt(world, 2, returned(agent)).again).toBe(false)
    expect(waiting(world, queued)).toEqual([false])
  })

  it('waits on behind one for which what has come back is enough', () => {
    const { world, agent, queued } = lead(2, 4)
    tickAt(world, 0, ...queued.map((session) => admitted(world, session)))
    tickAt(world, 1, returned(agent))
    expect(waiting(world, queued)).toEqual([false, true])
  })

  it('is seen to wait after the tick of its admission, even if the budget comes back in the same tick', () => {
    const { world, agent, queued } = lead(2)
    const result = tickAt(world, 0, ...queued.map((session) => admitted(world, session)), returned(agent))
    expect(waiting(world, queued)).toEqual([true, true])
    expect(result.again).toBe(true)
    expect(tickAt(world, 0).again).toBe(false)
    expect(waiting(world, queued)).toEqual([false, false])
  })
})
