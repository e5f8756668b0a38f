import { Conversation, Paused, Usage, user } from 'entia'
import { Ancestry, DelegationLimits, SessionEnd, Terminal, Unread } from 'entia/components'
import { reception, subagentScheduler } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { listener, thinker, tickAt, told, worldOf } from '../one-tick.ts'

const message = (agent: number, text: string) => ({ kind: 'message', agent, message: user(text) })

describe('a message', () => {
  it('joins the conversation of its agent, in order of arrival, and is unread', () => {
    const world = worldOf(reception)
    const [first, second] = [listener(world), listener(world)]
    for (const agent of [first, second]) world.remove(agent, Unread)
    const result = tickAt(world, 0, message(second, 'b'), message(first, 'a'), message(second, 'c'))
    expect(transcript(world, first)).toEqual(['user: Hello', 'user: a'])
    expect(transcript(world, second)).toEqual(['user: Hello', 'user: b', 'user: c'])
    expect(world.query(Unread)).toEqual([first, second])
    expect(result.delta.appended).toEqual({
      Conversation: [
        [first, [user('a')]],
        [second, [user('b'), user('c')]],
      ],
    })
  })

  it('joins while the agent works or is paused', () => {
    const world = worldOf(reception)
    const [{ agent: busy }, paused] = [thinker(world), listener(world, Paused)]
    expect(told(tickAt(world, 0, message(busy, 'a'), message(paused, 'b')))).toEqual([])
    expect(transcript(world, busy)).toEqual(['user: Hello', 'user: a'])
    expect(transcript(world, paused)).toEqual(['user: Hello', 'user: b'])
  })

  it('is refused by an agent that has ended, and by what has no conversation', () => {
    const world = worldOf(reception)
    const ended = listener(world, Terminal)
    const { delta, events } = tickAt(world, 0, message(ended, 'a'), message(999, 'b'))
    expect(delta.appended).toBeUndefined()
    expect(world.read(ended, Conversation)).toHaveLength(1)
    expect(events).toEqual([
      { type: 'input-refused', kind: 'message', agent: ended, reason: 'the agent has ended' },
      { type: 'input-refused', kind: 'message', agent: 999, reason: 'there is no such agent' },
    ])
  })
})

describe('a question to a session that has ended', () => {
  const ended = () => {
    const world = worldOf(reception, subagentScheduler(undefined))
    const agent = listener(
      world,
      Ancestry({ sessions: [{ kind: 'named', sessionId: 'session-1' }] }),
      DelegationLimits({ costUsd: 1, depth: 2, sessions: 4, tokens: 9 }),
      SessionEnd({ ok: true, text: 'Done.' }),
      Usage({ calls: 1, costNanoUsd: 500_000_000 }),
    )
    const granted = { kind: 'granted', limits: { costUsd: 0.25, sessions: 3 }, question: 'q1' }
    const asked = (id: string) => ({ id, ...message(agent, 'Why?') })
    return { world, agent, granted, asked, limits: () => world.read(agent, DelegationLimits) }
  }
  const told = { costUsd: 0.75, depth: 2, sessions: 3 }

  it('may cost what was set aside for it, besides what the session has used, if both come in one tick', () => {
    const { world, granted, asked, limits } = ended()
    tickAt(world, 0, granted, asked('q1'))
    expect(limits()).toEqual(told)
  })

  it('may cost no more if it comes after a crash between the two', () => {
    const { world, granted, asked, limits } = ended()
    tickAt(world, 0, granted)
    tickAt(world, 1, asked('q1'))
    expect(limits()).toEqual(told)
  })

  it('is bounded by nothing if nothing was set aside for it, whatever was for the last one', () => {
    const { world, granted, asked, limits } = ended()
    tickAt(world, 0, granted)
    tickAt(world, 1, asked('q2'))
    expect(limits()).toEqual({ depth: 2, sessions: 3 })
  })
})
