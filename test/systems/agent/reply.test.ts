import { Conversation, LastTurn, Usage, user } from 'entia'
import { Answered, Busy, OwnedBy, Prefix, Requested, ToolCall, Turn } from 'entia/components'
import { reply } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../transcript.ts'
import { answered, asking, saying, settleWith, thinker, tickAt, told, worldOf } from '../one-tick.ts'

describe('the reply of a model', () => {
  it('that is a text stands in the conversation, and the agent has answered', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    settleWith(world, call, answered(saying('Hi'), { input: 7 }))
    const { events } = tickAt(world, 0)
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: Hi'])
    expect([world.has(agent, Busy), world.has(agent, Answered)]).toEqual([false, true])
    expect(world.exists(call)).toBe(false)
    expect(events).toEqual([{ type: 'model-replied', agent, effect: call, usage: { input: 7 }, stop: 'end' }])
  })

  it.each([
    ['has no content', []],
    ['has blanks alone', [{ type: 'text', text: ' \n' }]],
    ['has thoughts alone', [{ type: 'thinking', provider: 'scripted', text: 'Hm.', signature: 'x' }]],
  ])('that %s stands nowhere, and is counted until one says something', (_, content) => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    settleWith(world, call, { ok: true, value: { message: { role: 'assistant', content }, stop: 'end', usage: {} } })
    tickAt(world, 0)
    expect(transcript(world, agent)).toEqual(['user: Hello'])
    expect([world.has(agent, Busy), world.has(agent, Answered)]).toEqual([false, true])
    expect(world.read(agent, Turn).emptyReplies).toBe(1)
    expect(world.read(agent, Usage)).toEqual({ calls: 1 })
    settleWith(world, thinkAgain(world, agent), answered(saying('Hi')))
    tickAt(world, 0)
    expect(world.read(agent, Turn).emptyReplies).toBeUndefined()
  })

  it('that asks for tools makes an entity of each call, in their order, and the step goes on', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    const wishes = [{ name: 'b', arguments: { n: 1 } }, { name: 'a', malformed: '{"n":' }, { name: 'b' }]
    settleWith(world, call, answered(asking(...wishes)))
    tickAt(world, 0)
    expect(world.referrers(OwnedBy, agent).map((entity) => world.read(entity, ToolCall))).toEqual([
      { callId: 'call-0', name: 'b', arguments: { n: 1 } },
      { callId: 'call-1', name: 'a', arguments: {}, malformed: '{"n":' },
      { callId: 'call-2', name: 'b', arguments: {} },
    ])
    expect(world.query(Requested)).toEqual(world.query(ToolCall))
    expect([world.has(agent, Busy), world.has(agent, Answered)]).toEqual([true, false])
  })

  it('whose calls share an id, as those of some servers do, gets one for each, so that each has its result', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    const { content } = asking({ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' })
    const ids = ['x', 'x', 'x-2', 'x']
    const shared = content.map((block, index) => ({ ...block, id: ids[index] }))
    settleWith(world, call, {
      ok: true,
      value: { message: { role: 'assistant', content: shared }, stop: 'tool-calls', usage: {} },
    })
    tickAt(world, 0)
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: <x a> <x-2 b> <x-2-2 c> <x-3 d>'])
    const calls = world.referrers(OwnedBy, agent).map((entity) => world.read(entity, ToolCall).callId)
    expect(calls).toEqual(['x', 'x-2', 'x-2-2', 'x-3'])
  })

  it('goes right behind what it answers: what came meanwhile, the model has not seen', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    world.append(agent, Conversation, user('And another thing'))
    settleWith(world, call, answered(asking({ name: 'a' })))
    const { delta } = tickAt(world, 0)
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: <call-0 a>', 'user: And another thing'])
    expect(delta.spliced?.['Conversation']?.[0]?.[1]).toEqual([[1, 0, [asking({ name: 'a' })]]])
  })

  it('that was cut off at its output limit is marked so, until another takes its place', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    settleWith(world, call, { ok: true, value: { message: saying('Once upon'), stop: 'max-tokens', usage: {} } })
    tickAt(world, 0)
    expect(world.read(agent, Turn).truncated).toBe(true)
    settleWith(world, thinkAgain(world, agent), answered(saying('The end.')))
    tickAt(world, 0)
    expect(world.read(agent, Turn).truncated).toBeUndefined()
  })

  it('that was read from less of the cache than there was tells so, though the prefix held', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    const prefix = { count: 1, llm: 1, system: 1, tools: 1 }
    world.set(agent, Prefix, prefix)
    settleWith(world, call, answered(saying('One'), { input: 5, cacheRead: 0, cacheWrite: 2_000 }))
    expect(tickAt(world, 0).events.map((event) => event.type)).toEqual(['model-replied'])
    expect(world.read(agent, Prefix)).toEqual({ ...prefix, cached: 2_000 })
    settleWith(world, thinkAgain(world, agent), answered(saying('Two'), { cacheRead: 2_000, cacheWrite: 300 }))
    expect(tickAt(world, 0).events.map((event) => event.type)).toEqual(['model-replied'])
    settleWith(world, thinkAgain(world, agent), answered(saying('Three'), { cacheRead: 2_000 }))
    expect(tickAt(world, 0).events).toContainEqual({ type: 'cache-missed', agent, cached: 2_300, read: 2_000 })
    settleWith(world, thinkAgain(world, agent), answered(saying('Four'), { input: 9 }))
    tickAt(world, 0)
    expect(world.read(agent, Prefix).cached).toBe(2_000)
  })

  it('that failed for good ends the turn, and nothing of it is kept', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    const failure = { kind: 'overloaded', message: 'come back later' } as const
    settleWith(world, call, { ok: false, failure })
    const result = tickAt(world, 9)
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: [turn failed: overloaded]'])
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'failed', failure, steps: 1, endedAtMs: 9 })
    expect([world.has(agent, Turn), world.has(agent, Busy), world.exists(call)]).toEqual([false, false, false])
    expect(told(result)).toEqual(['model-failed', 'turn-ended'])
  })

  it.each([
    ['nothing', null],
    ['a number', 42],
    ['no message', { usage: {} }],
    ['a message of somebody else', { message: user('I am you'), usage: {} }],
    ['blocks that there are not', { message: { role: 'assistant', content: [{ type: 'song' }] }, usage: {} }],
    ['blocks that are none', { message: { role: 'assistant', content: [null, 7] }, usage: {} }],
    ['no list of blocks', { message: { role: 'assistant', content: 'Hi' }, usage: {} }],
    ['a usage in words', { message: saying('Hi'), usage: { input: 'much' } }],
    ['no usage', { message: saying('Hi'), usage: null }],
  ])('that is %s fails the turn, and not the tick', (_, value) => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    settleWith(world, call, { ok: true, value })
    tickAt(world, 0)
    expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'failed', failure: { kind: 'internal' } })
    expect(world.read(agent, LastTurn).failure?.message).toMatch(/^The provider's reply is malformed: /)
    expect(transcript(world, agent)).toEqual(['user: Hello', 'assistant: [turn failed: internal]'])
    expect(world.query(ToolCall)).toEqual([])
  })
})

describe('the usage of an agent', () => {
  it('sums what its calls have said; what none has said stays unknown', () => {
    const world = worldOf(reply)
    const { agent, call } = thinker(world)
    const calls = [{ input: 10, output: 0 }, {}, { input: 5, cacheRead: 3 }]
    for (const [index, usage] of calls.entries()) {
      const next = index === 0 ? call : thinkAgain(world, agent)
      settleWith(world, next, answered(saying(`${index}`), usage))
      tickAt(world, 0)
    }
    expect(world.read(agent, Usage)).toEqual({ calls: 3, input: 15, output: 0, cacheRead: 3 })
  })
})

function thinkAgain(world: ReturnType<typeof worldOf>, agent: number): number {
  const { call } = thinker(world)
  world.set(call, OwnedBy, { agent })
  return call
}
