import { describe, expect, it } from 'vitest'
import { Conversation } from '../../components/agent/conversation.ts'
import { HostFacts } from '../../components/agent/host-facts.ts'
import { Llm, type LlmData } from '../../components/agent/llm.ts'
import type { Message } from '../../src/protocol/message.ts'
import { Prefix } from '../../components/agent/prefix.ts'
import { adoptPrefix, nextPrefix, prefixAt } from '../../src/rules/projection/prefix.ts'
import { tick } from '../../src/world/tick.ts'
import { World } from '../../src/world/world.ts'

const model = 'scripted/x'

/** Messages that count how often they are read. */
function watched(length: number): { readonly messages: readonly Message[]; readonly reads: () => number } {
  let reads = 0
  const messages = Array.from({ length }, (_, index) => {
    const toJSON = (): string => `message ${index} ${String(reads++).slice(0, 0)}`
    return Object.freeze({ role: 'user' as const, content: [], toJSON })
  })
  const sinceThen = (): number => {
    const now = reads
    reads = 0
    return now
  }
  return { messages, reads: sinceThen }
}

/** An agent with these messages, in a world of its own. */
function agentWith(messages: readonly Message[], llm: LlmData = { model }): { world: World; agent: number } {
  const world = new World()
  const agent = world.spawn(Llm(llm))
  world.core.put(agent, Conversation, messages)
  return { world, agent }
}

/** The same, once its model was asked about the first so many. */
function askedAbout(count: number, messages: readonly Message[]): ReturnType<typeof agentWith> {
  const { world, agent } = agentWith(messages)
  world.set(agent, Prefix, nextPrefix(world, agent, undefined, count).prefix)
  return { world, agent }
}

/** What is found out about the first so many messages where nothing is known. */
function foundOut(messages: readonly Message[], count: number) {
  const { world, agent } = agentWith(messages)
  return nextPrefix(world, agent, undefined, count).prefix
}

describe('the prefix that a fork shares', () => {
  it('is that of a request with so many messages of its parent, before or behind the last one', () => {
    const { messages } = watched(8)
    const { world, agent } = askedAbout(5, messages)
    for (const count of [0, 3, 5, 6, 8]) {
      expect(prefixAt(world, agent, count)).toEqual(foundOut(messages, count))
    }
  })

  it('costs what is new since the last request, and the parent no more than that', () => {
    const { messages, reads } = watched(100)
    const { world, agent } = askedAbout(90, messages)
    reads()
    prefixAt(world, agent, 92)
    prefixAt(world, agent, 92)
    expect(reads()).toBe(4)
    const { brokenBy } = nextPrefix(world, agent, world.read(agent, Prefix), 95)
    expect([brokenBy, reads()]).toEqual([undefined, 5])
  })

  it('costs what is new since a place that is known, where it ends before the last request', () => {
    const { messages, reads } = watched(100)
    const { world, agent } = askedAbout(90, messages)
    world.set(agent, Prefix, nextPrefix(world, agent, world.read(agent, Prefix), 98).prefix)
    reads()
    expect(prefixAt(world, agent, 93).messages).toBe(foundOut(messages, 93).messages)
    expect(reads()).toBe(3 + 93)
  })

  it('is not what it was with messages that an undone tick has taken back', () => {
    const said = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
    let text = 'Never'
    const run = (now: World): void => {
      now.append(agent, Conversation, said(text))
      prefixAt(now, agent, 2)
      if (text === 'Never') throw new Error('no')
    }
    const world = new World({ systems: [{ name: 'say', priority: 0, run }] })
    const agent = world.spawn(Llm({ model }), Conversation([said('Hello')]))
    expect(() => tick(world, [])).toThrow('no')
    text = 'At last'
    tick(world, [])
    expect(prefixAt(world, agent, 2).messages).toBe(foundOut(world.read(agent, Conversation), 2).messages)
  })

  it('is known of the log that begins with the same messages, and is not walked through for its first request', () => {
    const { messages, reads } = watched(100)
    const parent = askedAbout(90, messages)
    const last = prefixAt(parent.world, parent.agent, 95)
    const its = [...messages.slice(0, 95), ...watched(2).messages]
    const { world, agent } = agentWith(its)
    adoptPrefix(parent.world.read(parent.agent, Conversation), world.read(agent, Conversation), 95)
    reads()
    const { prefix, brokenBy } = nextPrefix(world, agent, last, 97)
    expect([brokenBy, reads()]).toEqual([undefined, 0])
    expect(prefix.messages).toBe(foundOut(its, 97).messages)
  })

  it('is not taken for that of a log that is shorter, or holds another message', () => {
    const { messages, reads } = watched(100)
    const parent = askedAbout(90, messages)
    const from = parent.world.read(parent.agent, Conversation)
    const last = parent.world.read(parent.agent, Prefix)
    const other = Object.freeze({ role: 'user' as const, content: [] })
    for (const to of [messages.slice(0, 89), messages.toSpliced(40, 1, other), messages.toSpliced(89, 1, other)]) {
      const { world, agent } = agentWith(to)
      adoptPrefix(from, world.read(agent, Conversation), 90)
      reads()
      expect(nextPrefix(world, agent, last, 90).brokenBy).toBe('Conversation')
      expect(reads()).toBeGreaterThan(80)
    }
  })

  it('is found out once of a log of which nothing is known, for all that begin with it', () => {
    const { messages, reads } = watched(20)
    const parent = askedAbout(10, messages)
    const last = parent.world.read(parent.agent, Prefix)
    const captured = messages.slice()
    reads()
    for (const expected of [10, 0, 0]) {
      const { world, agent } = agentWith(messages)
      adoptPrefix(captured, world.read(agent, Conversation), 10)
      expect(nextPrefix(world, agent, last, 10).brokenBy).toBeUndefined()
      expect(reads()).toBe(expected)
    }
  })
})

describe('what a request begins with', () => {
  /** What an agent of this provider is told of when the settings become others. */
  function brokenBy(before: Record<string, number> | undefined, after: Record<string, number> | undefined) {
    const { world, agent } = agentWith(watched(2).messages, { model: 'mine/x' })
    const host = world.spawn(HostFacts({ retry: {}, settings: before }))
    const { prefix } = nextPrefix(world, agent, undefined, 1)
    world.set(host, HostFacts, { retry: {}, settings: after })
    return nextPrefix(world, agent, prefix, 2).brokenBy
  }

  it('is broken by Llm when the provider adds something else of its own accord', () => {
    expect(brokenBy({ mine: 1 }, { mine: 2 })).toBe('Llm')
    expect(brokenBy({ mine: 1 }, undefined)).toBe('Llm')
    expect(brokenBy(undefined, { mine: 0 })).toBe('Llm')
  })

  it('is not broken by what another provider adds', () => {
    expect(brokenBy({ mine: 1, scripted: 1 }, { mine: 1, scripted: 2 })).toBeUndefined()
    expect(brokenBy(undefined, { scripted: 1 })).toBeUndefined()
  })

  it('is the same on a Host of which nothing is known', () => {
    const { messages } = watched(2)
    const { world, agent } = agentWith(messages)
    const alone = nextPrefix(world, agent, undefined, 2).prefix
    world.spawn(HostFacts({ retry: {} }))
    expect(nextPrefix(world, agent, undefined, 2).prefix).toEqual(alone)
  })

  it('has nothing to do with how long and how often a call may be tried', () => {
    const { messages } = watched(2)
    const { world, agent } = agentWith(messages)
    const { prefix } = nextPrefix(world, agent, undefined, 2)
    world.set(agent, Llm, { model, retry: false, timeoutMs: 5 })
    expect(nextPrefix(world, agent, prefix, 2).brokenBy).toBeUndefined()
    world.set(agent, Llm, { model, thinking: 'low' })
    expect(nextPrefix(world, agent, prefix, 2).brokenBy).toBe('Llm')
  })
})
