import { Conversation, Paused, Terminal, user } from 'entia'
import { Unread } from 'entia/components'
import { reception } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../transcript.ts'
import { listener, thinker, tickAt, told, worldOf } from './one-tick.ts'

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
