import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Conversation, Edited } from '../../../components/agent/conversation.ts'
import { HostFacts } from '../../../components/agent/host-facts.ts'
import { Llm, type LlmData } from '../../../components/agent/llm.ts'
import { Prefix } from '../../../components/agent/prefix.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import type { BoundaryEntry } from '../../../src/protocol/context.ts'
import * as components from '../../../components/index.ts'
import type { Message } from '../../../src/protocol/message.ts'
import { nextPrefix, prefixAt } from '../../../src/rules/projection/prefix.ts'
import { defineComponent } from '../../../src/world/component.ts'
import { tick } from '../../../src/world/tick.ts'
import { World } from '../../../src/world/world.ts'
import { insertMessage } from '../../../systems/agent/tool-results.ts'
import { reasoning } from '../../../systems/agent/reasoning.ts'

const model = 'scripted/x'
const agent = 1

function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}

function saying(text: string): Message {
  return { role: 'assistant', content: [{ type: 'text', text }] }
}

/** What is said in turns: a user's messages and the answers to them, one for each letter. */
function talk(letters: string): Message[] {
  return Array.from(letters, (letter, index) => (index % 2 === 0 ? user(letter) : saying(letter)))
}

/** Covers so many messages. */
function boundary(seq: number, text = 'So far, so good.'): BoundaryEntry {
  return { atMs: 0, by: 'auto', kind: 'summary', missingHeadings: [], seq, text, truncated: false, usage: {} }
}

/** An agent whose model was asked about these messages. */
function asked(letters: string, ...boundaries: readonly BoundaryEntry[]): World {
  const world = new World({ systems: [reasoning(256)] })
  world.spawn(Llm({ model }), Conversation(talk(letters)), Boundary(boundaries))
  tick(world)
  return world
}

type Change = (world: World) => void

/** Its model has answered, and the user writes again: what breaks the prefix of the next request then, if anything. */
function askedAgain(world: World): unknown {
  world.remove(agent, components.Busy)
  world.append(agent, Conversation, saying('answer'), user('more'))
  const { events } = tick(world)
  expect(events.map(({ type }) => type)).toContain('model-called')
  expect(world.has(agent, Edited)).toBe(false)
  return events.find(({ type }) => type === 'prefix-broken')?.['component']
}

/** The same, after these changes: in this world, and in one that is restored behind each of them. */
function brokenBy(world: World, ...changes: readonly Change[]): unknown {
  const systems = [...world.systems]
  const after = (each: World): World => World.restore(each.snapshot(), { systems, components })
  let restored = after(world)
  for (const change of changes) {
    change(world)
    change(restored)
    restored = after(restored)
  }
  const component = askedAgain(world)
  expect(askedAgain(restored)).toBe(component)
  expect(restored.hash()).toBe(world.hash())
  return component
}

const splice =
  (from: number, count: number, ...messages: readonly Message[]): Change =>
  (world) =>
    world.splice(agent, Conversation, from, count, messages)
const rewrite =
  (letters: string): Change =>
  (world) =>
    world.rewrite(agent, Conversation, talk(letters))
const append =
  (...messages: readonly Message[]): Change =>
  (world) =>
    world.append(agent, Conversation, ...messages)
const bound =
  (entry: BoundaryEntry): Change =>
  (world) =>
    world.append(agent, Boundary, entry)

describe('a request', () => {
  it.each<[string, ...Change[]]>([
    ['nothing else happens'],
    ['its messages are written again as they are', rewrite('abc')],
    ['its messages are written again, with more behind them', rewrite('abcdef')],
    ['a message is put behind them', append(user('d')), (world) => insertMessage(world, agent, 3, saying('x'))],
    ['what stands behind them is changed', append(user('d'), user('e')), splice(3, 1, user('x'))],
    ['what stands behind them is taken away', append(user('d'), user('e')), splice(3, 2)],
  ])('begins like the one before it if %s', (_, ...changes) => {
    expect(brokenBy(asked('abc'), ...changes)).toBeUndefined()
  })

  it.each<[string, ...Change[]]>([
    ['the first of its messages is another one', splice(0, 1, user('x'))],
    ['the last of its messages is another one', splice(2, 1, user('x'))],
    ['a message is put between them', splice(1, 0, user('x'))],
    ['a message is put before them', splice(0, 0, user('x'))],
    ['the first of its messages is gone', splice(0, 1)],
    ['the last of its messages is gone', splice(2, 1)],
    ['its messages are written anew, one of them other', rewrite('axc')],
    ['its messages are given anew, one of them other', (world) => world.add(agent, Conversation(talk('axc')))],
    ['all its messages are gone', rewrite('')],
    ['its log is taken away and another one given', (world) => world.remove(agent, Conversation), rewrite('xbc')],
    ['one change stands behind its messages, another among them', append(user('d')), splice(3, 1), splice(2, 1)],
  ])('is said to be broken by its conversation if %s', (_, ...changes) => {
    expect(brokenBy(asked('abc'), ...changes)).toBe('Conversation')
  })

  it('is compared with the one before it alone: a change breaks it once', () => {
    const world = asked('abc')
    expect(brokenBy(world, splice(0, 1, user('x')))).toBe('Conversation')
    expect(brokenBy(world)).toBeUndefined()
    expect(brokenBy(world, append(user('d')), splice(7, 1))).toBeUndefined()
    expect(brokenBy(world, splice(2, 1))).toBe('Conversation')
  })

  it('is not compared with anything if it is the first', () => {
    const world = new World({ systems: [reasoning(256)] })
    world.spawn(Llm({ model }), Conversation(talk('abc')))
    world.splice(agent, Conversation, 0, 1, [])
    const { events } = tick(world)
    expect(events.map(({ type }) => type)).toEqual(['turn-started', 'model-called'])
    expect(world.has(agent, Edited)).toBe(false)
  })

  it('begins like the one before it when a change was undone with its tick', () => {
    let isFailing = false
    const run = (world: World): void => {
      if (!isFailing) return
      world.splice(agent, Conversation, 0, 1, [user('x')])
      throw new Error('no')
    }
    const world = new World({ systems: [{ name: 'failing', priority: -1, run }, reasoning(256)] })
    world.spawn(Llm({ model }), Conversation(talk('abc')))
    tick(world)
    isFailing = true
    expect(() => tick(world)).toThrow('no')
    isFailing = false
    expect(askedAgain(world)).toBeUndefined()
  })

  it('is said to be broken still when the tick that asked it was undone', () => {
    let isFailing = false
    const run = (): void => {
      if (isFailing) throw new Error('no')
    }
    const world = new World({ systems: [reasoning(256), { name: 'failing', priority: 9, run }] })
    world.spawn(Llm({ model }), Conversation(talk('abc')))
    tick(world)
    world.remove(agent, components.Busy)
    world.rewrite(agent, Conversation, talk('xbcde'))
    isFailing = true
    expect(() => tick(world)).toThrow('no')
    isFailing = false
    expect(tick(world).events).toContainEqual({ type: 'prefix-broken', agent, component: 'Conversation' })
  })
})

describe('a request behind a boundary', () => {
  it.each<[string, ...Change[]]>([
    ['nothing else happens'],
    ['what the boundary covers is changed', splice(1, 1, saying('x'))],
    ['the boundary is written again as it is', (world) => world.rewrite(agent, Boundary, [boundary(4)])],
    [
      'a turn that the boundary covers collapses',
      splice(1, 3, saying('x')),
      (world) => {
        const data = { atMs: 0, reason: 'tokens', status: 'archived', subagentId: 's', task: 't' } as const
        world.append(agent, components.Archive, { ...data, fromSeq: 1, toSeq: 4 })
      },
    ],
  ])('begins like the one before it if %s', (_, ...changes) => {
    expect(brokenBy(asked('abcdefg', boundary(4)), ...changes)).toBeUndefined()
  })

  it.each<[string, string, ...Change[]]>([
    ['its conversation', 'the first of its messages is another one', splice(4, 1, user('x'))],
    ['its conversation', 'a message is put before all that the boundary covers', splice(0, 0, user('x'))],
    ['its conversation', 'a message that the boundary covers is gone', splice(0, 1)],
    ['its conversation', 'covered and other messages are changed', splice(3, 2, saying('x'), user('y'))],
    [
      'its conversation',
      'a boundary of the same text covers more, and as much was said since',
      append(...talk('hijklm')),
      bound(boundary(8)),
    ],
    ['a boundary', 'there is a newer one', bound(boundary(6, 'It went on.'))],
    ['a boundary', 'the boundary is taken away', (world) => world.remove(agent, Boundary)],
  ])('is said to be broken by %s if %s', (what, _, ...changes) => {
    const component = what === 'a boundary' ? 'Boundary' : 'Conversation'
    expect(brokenBy(asked('abcdefg', boundary(4)), ...changes)).toBe(component)
  })
})

describe('a fork', () => {
  it('begins with what a request of its parent would, up to the messages that both share', () => {
    const parent = asked('abcdefg', boundary(2))
    const { cached: _, ...last } = parent.read(agent, Prefix)
    expect(prefixAt(parent, agent, 7)).toEqual(last)
    expect(prefixAt(parent, agent, 4)).toEqual({ ...last, count: 2 })
    expect(prefixAt(parent, agent, 1)).toEqual({ ...last, count: 0, from: 1 })
  })

  /** An agent of another world, that begins like a request of this one with so many messages, and has these itself. */
  function forkOf(parent: World, count: number, letters: string): World {
    const world = new World({ systems: [reasoning(256)] })
    world.spawn(Llm({ model }), Prefix(prefixAt(parent, agent, count)), Conversation(talk(letters)))
    return world
  }

  it('has a first request that begins like its parent, even if that has changed since it asked', () => {
    const parent = asked('abc')
    parent.splice(agent, Conversation, 0, 1, [user('x')])
    parent.append(agent, Conversation, saying('d'))
    const { events } = tick(forkOf(parent, 4, 'xbcde'))
    expect(events.map(({ type }) => type)).toEqual(['turn-started', 'model-called'])
  })

  it('breaks the prefix if it has fewer messages than both share', () => {
    const { events } = tick(forkOf(asked('abcde'), 5, 'abc'))
    expect(events).toContainEqual({ type: 'prefix-broken', agent, component: 'Conversation' })
  })
})

describe('a prefix that was saved by version 1', () => {
  const Prefix1 = defineComponent('Prefix', z.looseObject({ messages: z.number() }))
  const Blueprint1 = defineComponent('Blueprint', z.looseObject({ prefix: Prefix1.schema.optional() }))

  /** The world of an agent that was asked about these messages, as it was saved then. */
  function saved(letters: string, ...boundaries: readonly BoundaryEntry[]): string[] {
    const { from: _, ...prefix } = asked(letters, ...boundaries).read(agent, Prefix)
    const world = new World()
    const parts = [Conversation(talk(letters)), Boundary(boundaries), Prefix1({ ...prefix, cached: 20, messages: 7 })]
    world.spawn(Llm({ model }), ...parts)
    return [...world.snapshot()]
  }

  function restored(lines: readonly string[]): World {
    return World.restore(lines, { systems: [reasoning(256)], components })
  }

  it('loses the hash of its messages, and keeps what is cached of them', () => {
    const world = restored(saved('abc'))
    expect(world.read(agent, Prefix)).toEqual({ ...asked('abc').read(agent, Prefix), cached: 20 })
    expect(askedAgain(world)).toBeUndefined()
    expect(world.read(agent, Prefix).cached).toBe(20)
  })

  it('is compared with the next request like any other, behind a boundary too', () => {
    for (const boundaries of [[], [boundary(2)]]) {
      const world = (): World => restored(saved('abcde', ...boundaries))
      expect(brokenBy(world())).toBeUndefined()
      expect(brokenBy(world(), splice(3, 1, saying('x')))).toBe('Conversation')
      expect(brokenBy(world(), (each) => each.patch(agent, Llm, { temperature: 1 }))).toBe('Llm')
    }
    expect(brokenBy(restored(saved('abcde', boundary(2))), splice(0, 1, user('x')))).toBeUndefined()
  })

  it('is migrated in the blueprint of a fork as well', () => {
    const prefix = prefixAt(asked('abc'), agent, 3)
    const lists = { hostSkills: [], hostTools: [], skills: [], tools: [] }
    const blueprint = { ...lists, hash: 'x', llm: { model }, maxSteps: 1, prefix, template: '' }
    const world = new World()
    world.spawn(Blueprint1({ ...blueprint, prefix: { ...blueprint.prefix, messages: 7 } }))
    world.spawn(Blueprint1({ ...blueprint, prefix: undefined }))
    const now = restored([...world.snapshot()])
    expect(now.read(1, components.Blueprint)).toEqual(blueprint)
    expect(now.read(2, components.Blueprint).prefix).toBeUndefined()
  })
})

describe('what a request begins with', () => {
  function agentWith(llm: LlmData): World {
    const world = new World()
    world.spawn(Llm(llm), Conversation(talk('ab')))
    return world
  }

  /** What an agent of this provider is told of when the settings become others. */
  function brokenByHost(before: Record<string, number> | undefined, after: Record<string, number> | undefined) {
    const world = agentWith({ model: 'mine/x' })
    const host = world.spawn(HostFacts({ retry: {}, settings: before }))
    const { prefix } = nextPrefix(world, agent, undefined, 1)
    world.set(host, HostFacts, { retry: {}, settings: after })
    return nextPrefix(world, agent, prefix, 2).brokenBy
  }

  it('is broken by Llm when the provider adds something else of its own accord', () => {
    expect(brokenByHost({ mine: 1 }, { mine: 2 })).toBe('Llm')
    expect(brokenByHost({ mine: 1 }, undefined)).toBe('Llm')
    expect(brokenByHost(undefined, { mine: 0 })).toBe('Llm')
  })

  it('is not broken by what another provider adds', () => {
    expect(brokenByHost({ mine: 1, scripted: 1 }, { mine: 1, scripted: 2 })).toBeUndefined()
    expect(brokenByHost(undefined, { scripted: 1 })).toBeUndefined()
  })

  it('is the same on a Host of which nothing is known', () => {
    const world = agentWith({ model })
    const alone = nextPrefix(world, agent, undefined, 2).prefix
    world.spawn(HostFacts({ retry: {} }))
    expect(nextPrefix(world, agent, undefined, 2).prefix).toEqual(alone)
  })

  it('has nothing to do with how long and how often a call may be tried', () => {
    const world = agentWith({ model })
    const { prefix } = nextPrefix(world, agent, undefined, 2)
    world.set(agent, Llm, { model, retry: false, timeoutMs: 5 })
    expect(nextPrefix(world, agent, prefix, 2).brokenBy).toBeUndefined()
    world.set(agent, Llm, { model, thinking: 'low' })
    expect(nextPrefix(world, agent, prefix, 2).brokenBy).toBe('Llm')
  })
})
