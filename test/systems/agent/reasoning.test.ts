import { Conversation, Limits, Llm, Paused, SystemPrompt, user, type World } from 'entia'
import {
  Busy,
  Effect,
  LastStep,
  ModelCall,
  OwnedBy,
  Pending,
  Prefix,
  Terminal,
  ToolRegistry,
  Turn,
  Unread,
} from 'entia/components'
import { promptRendering, reasoning } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { declaration, listener, model, saying, tickAt, told, worldOf } from '../one-tick.ts'

describe('an agent that was spoken to', () => {
  it('has its model called: a pure effect of its own, that answers all that was said', () => {
    const world = worldOf(reasoning(256))
    const agent = listener(world)
    world.append(agent, Conversation, user('Are you there?'))
    const { events } = tickAt(world, 8)
    const [call = 0] = world.query(ModelCall, Pending)
    expect(world.read(call, ModelCall)).toEqual({ messages: 2 })
    expect(world.read(call, OwnedBy)).toEqual({ agent })
    expect(world.read(call, Effect)).toEqual({ kind: 'model', restart: 'pure', attempt: 1, timeoutMs: 600_000 })
    expect([world.has(agent, Busy), world.has(agent, Unread)]).toEqual([true, false])
    expect(world.read(agent, Turn)).toEqual({ since: call, steps: 1, toolCalls: 0, startedAtMs: 8 })
    expect(events).toEqual([
      { type: 'turn-started', agent },
      { type: 'model-called', agent, effect: call, step: 1, messages: 2 },
    ])
  })

  it('goes on with its turn, step by step, and the last it may take is marked', () => {
    const world = worldOf(reasoning(256))
    const agent = listener(world, Limits({ maxSteps: 3 }), Turn({ steps: 1, toolCalls: 2, startedAtMs: 0 }))
    const { events } = tickAt(world, 8)
    expect(events).toMatchObject([{ type: 'model-called', step: 2 }])
    expect(world.read(agent, Turn)).toEqual({ steps: 2, toolCalls: 2, startedAtMs: 0 })
    expect(world.has(agent, LastStep)).toBe(false)
    world.remove(agent, Busy)
    world.append(agent, Conversation, user('More'))
    tickAt(world, 9)
    expect(world.has(agent, LastStep)).toBe(true)
  })

  it('is not taken for one that a tick has made ready which was undone', () => {
    let isFailing = true
    const speaking = {
      name: 'speaking',
      priority: -9,
      run: (each: World) => {
        if (isFailing) each.add(1, Unread)
      },
    }
    const failing = {
      name: 'failing',
      priority: -1,
      run: () => {
        if (isFailing) throw new Error('boom')
      },
    }
    const world = worldOf(speaking, promptRendering(256), failing, reasoning(256))
    world.remove(listener(world), Unread)
    listener(world, Paused)
    expect(() => tickAt(world, 0)).toThrow('boom')
    isFailing = false
    expect(told(tickAt(world, 1))).toEqual([])
  })

  it('waits for its model as long as it says', () => {
    const world = worldOf(reasoning(256))
    const agent = listener(world)
    world.set(agent, Llm, { model, timeoutMs: 90 })
    tickAt(world, 0)
    expect(world.read(world.query(ModelCall)[0] ?? 0, Effect).timeoutMs).toBe(90)
  })

  it('answers a message of the world like one of a person', () => {
    const world = worldOf(reasoning(256))
    const agent = world.spawn(Llm({ model }), Conversation([saying('Hi')]))
    world.append(agent, Conversation, { role: 'system', content: [{ type: 'text', text: 'It is noon.' }] })
    expect(told(tickAt(world, 0))).toEqual(['turn-started', 'model-called'])
  })

  it.each([
    ['works already', Busy],
    ['is paused', Paused],
    ['has ended', Terminal],
  ])('waits if it %s', (_, tag) => {
    const world = worldOf(reasoning(256))
    const agent = listener(world, tag)
    const { delta, again } = tickAt(world, 0)
    expect([delta.spawned, again]).toEqual([undefined, false])
    expect(world.has(agent, Unread)).toBe(true)
  })

  it('has nothing to answer if it spoke last, or nobody has spoken, or it is none', () => {
    const world = worldOf(reasoning(256))
    world.spawn(Llm({ model }), Conversation([user('Hello'), saying('Hi')]))
    world.spawn(Llm({ model }), Conversation())
    world.spawn(Conversation([user('Hello')]))
    expect(tickAt(world, 0).delta.spawned).toBeUndefined()
  })
})

describe('a crowd of agents', () => {
  it('is started so many a tick; the rest asks for another tick, lowest first', () => {
    const world = worldOf(reasoning(2))
    const agents = Array.from({ length: 5 }, () => listener(world))
    const started = [0, 0, 0].map(() => {
      const { events, again } = tickAt(world, 0)
      return [
        events.filter(({ type }) => type === 'model-called').map(({ agent }) => agents.indexOf(Number(agent))),
        again,
      ]
    })
    expect(started).toEqual([
      [[0, 1], true],
      [[2, 3], true],
      [[4], false],
    ])
  })
})

describe('the prefix of a request', () => {
  /** The agent has answered once; now this changes, and it is spoken to again. */
  function brokenBy(change: (world: ReturnType<typeof worldOf>, agent: number) => void): unknown[] {
    const world = worldOf(reasoning(256))
    const registry = ToolRegistry({ tools: [declaration('a')] })
    const agent = listener(world, SystemPrompt({ template: 'Be kind.' }), registry)
    tickAt(world, 0)
    world.remove(agent, Busy)
    world.append(agent, Conversation, saying('Hi'))
    change(world, agent)
    world.append(agent, Conversation, user('More'))
    const { events } = tickAt(world, 0)
    return events.filter(({ type }) => type === 'prefix-broken')
  }

  it('holds when the conversation only grows', () => {
    expect(brokenBy(() => undefined)).toEqual([])
  })

  it('holds when something is rewritten as it was', () => {
    const rewrite = (world: ReturnType<typeof worldOf>, agent: number) => {
      world.rewrite(agent, Conversation, [user('Hello'), saying('Hi')])
      world.set(agent, SystemPrompt, { template: 'Be kind.' })
      world.set(agent, Llm, { model })
      world.add(agent, ToolRegistry({ tools: [declaration('a')] }))
    }
    expect(brokenBy(rewrite)).toEqual([])
  })

  it.each<[string, (world: ReturnType<typeof worldOf>, agent: number) => void]>([
    ['Llm', (world, agent) => world.patch(agent, Llm, { temperature: 1 })],
    ['SystemPrompt', (world, agent) => world.set(agent, SystemPrompt, { template: 'Be brief.' })],
    ['SystemPrompt', (world, agent) => world.remove(agent, SystemPrompt)],
    ['ToolRegistry', (world, agent) => world.set(agent, ToolRegistry, { tools: [declaration('b')] })],
    ['ToolRegistry', (world, agent) => world.remove(agent, ToolRegistry)],
    ['Conversation', (world, agent) => world.splice(agent, Conversation, 0, 1, [user('Hullo')])],
    ['Conversation', (world, agent) => world.splice(agent, Conversation, 0, 0, [user('Before')])],
    ['Conversation', (world, agent) => world.rewrite(agent, Conversation, [])],
  ])('is broken by %s, which is named', (component, change) => {
    const agent = expect.any(Number) as number
    expect(brokenBy(change)).toEqual([{ type: 'prefix-broken', agent, component }])
  })

  it('is remembered with what the provider has cached of it, for as long as it holds', () => {
    const world = worldOf(reasoning(256))
    const agent = listener(world)
    const speak = (text: string) => {
      world.remove(agent, Busy)
      world.append(agent, Conversation, saying('Hi'), user(text))
      tickAt(world, 0)
      return world.read(agent, Prefix).cached
    }
    tickAt(world, 0)
    world.patch(agent, Prefix, { cached: 2_000 })
    expect(speak('More')).toBe(2_000)
    world.patch(agent, Llm, { temperature: 1 })
    expect(speak('And more')).toBeUndefined()
  })
})
