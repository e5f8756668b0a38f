import { describe, expect, it } from 'vitest'
import {
  Conversation,
  Llm,
  ModelCall,
  OwnedBy,
  RenderedPrompt,
  Reported,
  SystemPrompt,
  ToolCall,
  ToolRegistry,
} from '../../components/index.ts'
import type { Message } from '../../src/protocol/message.ts'
import { callsAnsweredOnce } from '../../src/sim/laws/calls-answered-once.ts'
import { conversationsValid, conversationsValidAs } from '../../src/sim/laws/conversations-valid.ts'
import { prefixHolds } from '../../src/sim/laws/prefix-holds.ts'
import type { World } from '../../src/world/world.ts'
import { underLaw, worldOf } from './law-under-test.ts'

const says = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const asks = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool-call', id, name: 'look', arguments: {} })),
})
const result = (callId: string): Message => ({ role: 'tool', callId, name: 'look', content: [] })
const put =
  (...messages: readonly Message[]) =>
  (world: World) =>
    world.append(1, Conversation, ...messages)
const insert =
  (at: number, ...messages: readonly Message[]) =>
  (world: World) =>
    world.splice(1, Conversation, at, 0, messages)
const opens = (callId: string) => (world: World) =>
  world.spawn(ToolCall({ arguments: {}, callId, name: 'look' }), OwnedBy({ agent: 1 }))
const all =
  (...steps: readonly ((world: World) => unknown)[]) =>
  (world: World) => {
    for (const step of steps) step(world)
  }

/** Agent 1 has said this. */
function talk(...steps: readonly ((world: World) => unknown)[]): World {
  const world = worldOf(...steps)
  world.spawn(Conversation([says('Go')]))
  return world
}

/** What a law says of the last of these ticks; of those before it, nothing. */
function lastOf(law: Parameters<typeof underLaw>[0], ...steps: readonly ((world: World) => unknown)[]) {
  const under = underLaw(law, talk(...steps))
  expect(under.begin()).toBeUndefined()
  for (const _ of steps.slice(1)) expect(under.tick()).toBeUndefined()
  return under.tick()
}

describe('conversations-valid', () => {
  it('is kept by results in call order, whatever was said meanwhile', () => {
    const steps = [
      put(asks('a', 'b')),
      put(says('Hurry')),
      insert(2, result('a')),
      put(says('Now')),
      insert(3, result('b')),
    ]
    expect(lastOf(conversationsValid, ...steps, put(asks('a')), put(result('a')))).toBeUndefined()
  })

  it('is kept by a reply that goes behind what it answers', () => {
    expect(lastOf(conversationsValid, put(says('Wait')), insert(1, asks('a')), insert(2, result('a')))).toBeUndefined()
  })

  it('is broken by results in another order', () => {
    expect(lastOf(conversationsValid, put(asks('a', 'b')), put(result('b')))).toBe(
      "in the conversation of agent 1, the result of call 'b' stands before that of 'a', which was called first",
    )
  })

  it('is broken by a result that stands apart', () => {
    expect(lastOf(conversationsValid, put(asks('a')), put(says('Hurry')), put(result('a')))).toMatch(
      /the result of call 'a' stands apart from the message that called it$/,
    )
  })

  it('is broken by a message that comes between two results', () => {
    const steps = [put(asks('a', 'b')), put(result('a'), result('b')), insert(3, says('Hurry'))]
    expect(lastOf(conversationsValid, ...steps)).toMatch(/the result of call 'b' stands apart/)
  })

  it('is broken by a result without a call', () => {
    expect(lastOf(conversationsValid, put(asks('a')), put(result('z')))).toMatch(
      /a result stands there for 'z', which the model has not called$/,
    )
  })

  it('is broken by a model that speaks or is asked while calls are open', () => {
    const isAsked = (world: World): void => world.emit({ type: 'model-called', agent: 1, messages: 2 })
    expect(lastOf(conversationsValid, put(asks('a')), isAsked)).toBe(
      "the model of agent 1 is asked while call 'a' has no result",
    )
    expect(lastOf(conversationsValid, put(asks('a')), put(asks()))).toMatch(
      /the model spoke again before call 'a' had its result$/,
    )
  })

  it('is broken by a step that has nothing to answer but what the model has said itself', () => {
    const step = (messages: number) => (world: World) => {
      const effect = world.spawn(ModelCall({ messages }), OwnedBy({ agent: 1 }))
      world.emit({ type: 'model-called', agent: 1, effect, messages })
    }
    const isDone: Message = { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }
    expect(lastOf(conversationsValid, put(isDone, says('More')), step(3))).toBeUndefined()
    expect(lastOf(conversationsValid, put(isDone), step(2))).toBe(
      'the model of agent 1 is asked, and its own words are the last',
    )
  })

  describe('of what was cut while its model thought, or says nothing', () => {
    const step = (messages: number) => (world: World) => {
      const effect = world.spawn(ModelCall({ messages }), OwnedBy({ agent: 1 }))
      world.emit({ type: 'model-called', agent: 1, effect, messages })
    }
    const thinking = { type: 'thinking', provider: 'scripted', text: 'Hm.' } as const
    const thinks: Message = { role: 'assistant', content: [thinking] }
    const asItIs = conversationsValidAs((message) => message)

    it('is kept, since that is not sent', () => {
      const cut: Message = { role: 'assistant', content: [{ type: 'text', text: 'Let me see.' }, thinking] }
      const empty: Message = { role: 'assistant', content: [] }
      expect(lastOf(conversationsValid, put(thinks, says('On')), step(3), put(cut, says(' ')), step(5))).toBeUndefined()
      expect(lastOf(conversationsValid, put(empty), step(2))).toBeUndefined()
    })

    it('is broken by a provider that is sent thinking with nothing behind it', () => {
      const what = 'the model of agent 1 is asked, and a message ends in thinking, with nothing behind it'
      expect(lastOf(asItIs, put(thinks, says('On')), step(3))).toBe(what)
    })

    it('is broken by a provider that is sent an empty message', () => {
      const what = "the model of agent 1 is asked, and a message of role 'user' is sent empty"
      expect(lastOf(asItIs, put(says(' ')), step(2))).toBe(what)
    })

    it('is broken by a provider that is not sent what the user has said', () => {
      const silent = conversationsValidAs(() => undefined)
      const what = "the model of agent 1 is asked, and a message of role 'user' is left out"
      expect(lastOf(silent, step(1))).toBe(what)
    })
  })

  it('is broken by an edit far back', () => {
    const steps = [put(asks('a'), result('a'), asks('b'), result('b'), says('So?'))]
    const removes = (world: World) => world.splice(1, Conversation, 2, 1, [])
    expect(lastOf(conversationsValid, ...steps, removes)).toMatch(/spoke again before call 'a'/)
  })

  it('is broken by a world that begins with such a conversation', () => {
    const world = talk(put(asks('a'), says('Hurry'), result('a')))
    underLaw(prefixHolds, world).tick()
    expect(underLaw(conversationsValid, world).begin()).toMatch(/stands apart/)
  })
})

describe('calls-answered-once', () => {
  const calls = all(put(asks('a', 'b')), opens('a'), opens('b'))
  const answers = (call: number, id: string) => all(put(result(id)), (world) => world.despawn(call))

  it('is kept by calls that are answered one after the other', () => {
    expect(lastOf(callsAnsweredOnce, calls, answers(2, 'a'), answers(3, 'b'))).toBeUndefined()
  })

  it('is broken by a second result', () => {
    expect(lastOf(callsAnsweredOnce, calls, answers(2, 'a'), put(result('a')))).toBe(
      "in the conversation of agent 1, call 'a' has two results",
    )
  })

  it('is broken by a call that is dropped', () => {
    expect(lastOf(callsAnsweredOnce, calls, (world) => world.despawn(2))).toBe(
      "call 'a' of agent 1 has no result, and nothing is left that brings it",
    )
  })

  it('is broken by a call that is never made one', () => {
    expect(lastOf(callsAnsweredOnce, put(asks('a')))).toMatch(/^call 'a' of agent 1 has no result/)
  })

  it('is broken by a call that goes on although it is answered', () => {
    expect(lastOf(callsAnsweredOnce, calls, put(result('a')))).toBe(
      'agent 1 has 2 calls under way, and 1 that have no result',
    )
  })

  it('is broken by a turn that ends while calls are open', () => {
    const ends = (world: World): void => world.emit({ type: 'turn-ended', agent: 1 })
    expect(lastOf(callsAnsweredOnce, calls, all(answers(2, 'a'), ends))).toBe(
      "the turn of agent 1 has ended, and call 'b' was never answered",
    )
  })

  it('is broken by a call that is told to be answered twice', () => {
    const tells = (world: World): void => world.emit({ type: 'tool-answered', agent: 1, callId: 'a', tool: 'look' })
    expect(lastOf(callsAnsweredOnce, calls, all(answers(2, 'a'), tells, tells))).toBe(
      "call 'a' of agent 1 was reported as answered twice",
    )
  })

  it('is broken by a call that is told to be answered when its result is there, and again when it is put', () => {
    const tells = (world: World): void => world.emit({ type: 'tool-answered', agent: 1, callId: 'a', tool: 'look' })
    const early = all(tells, (world) => world.add(2, Reported))
    expect(lastOf(callsAnsweredOnce, calls, early, answers(2, 'a'))).toBeUndefined()
    expect(lastOf(callsAnsweredOnce, calls, early, all(answers(2, 'a'), tells))).toBe(
      "call 'a' of agent 1 was reported as answered twice",
    )
  })
})

describe('prefix-holds', () => {
  const llm = (model: string) => (world: World) => world.add(1, Llm({ model }))
  const called = (world: World): void =>
    world.emit({ type: 'model-called', agent: 1, messages: world.read(1, Conversation).length })
  const first = all(llm('a/b'), called)

  it('is kept by a conversation that grows, behind what was asked too', () => {
    expect(lastOf(prefixHolds, first, put(says('Wait')), insert(1, asks()), called)).toBeUndefined()
  })

  it('is kept by what was changed and changed back, or is no part of a request', () => {
    const patient = (world: World): void => world.patch(1, Llm, { timeoutMs: 5 })
    const again = (world: World): void => world.rewrite(1, Conversation, [says('Go')])
    expect(
      lastOf(prefixHolds, first, all(llm('c/d'), patient), all(llm('a/b'), patient, again, called)),
    ).toBeUndefined()
  })

  it('is broken by a message that was rewritten, far as it may be', () => {
    const rewrites = (world: World): void => world.splice(1, Conversation, 0, 1, [says('Stay')])
    expect(lastOf(prefixHolds, first, put(says('Well?')), rewrites, called)).toBe(
      'the request of agent 1 does not begin with the last one: message 0 of its Conversation, and no event has said so',
    )
  })

  it('is broken by messages that are gone', () => {
    const forgets = (world: World): void => world.splice(1, Conversation, 0, 1, [])
    expect(lastOf(prefixHolds, first, forgets, called)).toMatch(/Conversation has 0 messages, and had 1/)
  })

  it('is broken by another model, system prompt, or tool', () => {
    const prompt = (template: string) => (world: World) => world.add(1, SystemPrompt({ template }))
    const tool = { name: 'look', description: '', inputSchema: {}, restart: 'pure' } as const
    const tools = (world: World): void => world.add(1, ToolRegistry({ tools: [tool] }))
    const rendered = (world: World): void => world.add(1, RenderedPrompt({ text: 'Now' }))
    expect(lastOf(prefixHolds, first, all(llm('c/d'), called))).toMatch(/its Llm is another one/)
    expect(lastOf(prefixHolds, first, all(prompt('Be'), called))).toMatch(/its SystemPrompt reads otherwise/)
    expect(lastOf(prefixHolds, all(prompt('Be'), first), all(rendered, called))).toMatch(/its SystemPrompt reads/)
    expect(lastOf(prefixHolds, first, all(tools, called))).toMatch(/its ToolRegistry is another one/)
  })

  it('is kept if an event says so', () => {
    const tells = (world: World): void => world.emit({ type: 'prefix-broken', agent: 1, component: 'Llm' })
    expect(lastOf(prefixHolds, first, all(llm('c/d'), tells, called))).toBeUndefined()
  })
})
