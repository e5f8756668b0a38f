import { Conversation, LastTurn, Llm } from 'entia/components'
import type { Message } from 'entia'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nineLetters, wordId, withDistinctIds } from '../../src/models/call-ids.ts'
import { driven, settled, worldWith } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import { type JsonBody, listOf } from '../servers/loopback.ts'
import { refusal, startScriptedServer } from '../servers/scripted-server.ts'
import { replyOf, requestOf, resultOf, userSays } from './model-calls.ts'
import { chatWire, chunks, messagesWire, responsesWire, type WireOfOthers, wiresOfOthers } from './wires-of-others.ts'

/** The ids of a request's calls, and of its results, in order. */
function idsIn(body: JsonBody | undefined, { field, name }: WireOfOthers): [calls: unknown[], results: unknown[]] {
  const said = listOf(body?.[field])
  if (name === 'openai') {
    const of = (type: string) => said.filter((item) => item['type'] === type).map((item) => item['call_id'])
    return [of('function_call'), of('function_call_output')]
  }
  const blocks = said.flatMap(({ content }) => listOf(content))
  if (name === 'anthropic') {
    const of = (type: string, id: string) => blocks.filter((block) => block['type'] === type).map((block) => block[id])
    return [of('tool_use', 'id'), of('tool_result', 'tool_use_id')]
  }
  const calls = said.flatMap((message) => listOf(message['tool_calls']).map(({ id }) => id))
  return [calls, said.flatMap((message) => message['tool_call_id'] ?? [])]
}

const asks = (id: string | undefined, index = 0) => ({
  tool_calls: [{ index, id, type: 'function', function: { name: 'add', arguments: '{}' } }],
})

describe('ids of calls', () => {
  it.each(['', 'call_0', undefined])(
    'are distinct over the conversation where a server gives %j each time',
    async (id) => {
      const server = await startScriptedServer((_, count) =>
        count < 4
          ? chunks([asks(id, 0), ...(id === undefined ? [asks(id, 1)] : [])], 'tool_calls')
          : chatWire.text('Done.'),
      )
      const add = tool('add', () => '3')
      const { world, agent } = worldWith({ model: 'local/m', tools: [add] })
      await settled(world, { models: { local: chatWire.make(server.url) }, tools: [add] })
      expect(world.read(agent, LastTurn).stop).toBe('done')
      const stored = world
        .read(agent, Conversation)
        .flatMap((message) =>
          message.role !== 'assistant'
            ? []
            : message.content.flatMap((block) => (block.type === 'tool-call' ? block.id : [])),
        )
      expect(new Set(stored).size).toBe(stored.length)
      const [calls, results] = idsIn(server.bodies.at(-1), chatWire)
      expect(calls).toHaveLength(id === undefined ? 6 : 3)
      expect(new Set(calls).size).toBe(calls.length)
      expect(results).toEqual(calls)
      for (const sent of calls) expect(sent).toMatch(/^[a-zA-Z0-9]{9}$/)
    },
  )

  it('of one server are accepted by a strict one that the agent turns to', async () => {
    const lax = await startScriptedServer((_, count) =>
      count === 1 ? chunks([asks(undefined)], 'tool_calls') : chatWire.text('3.'),
    )
    const strict = await startScriptedServer((body) => {
      const odd = idsIn(body, chatWire)
        .flat()
        .find((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)))
      return odd === undefined
        ? chatWire.text('Fine.')
        : refusal(`Tool call id was ${JSON.stringify(odd)} but must be a-z, A-Z, 0-9`)
    })
    const add = tool('add', () => '3')
    const { world, agent } = worldWith({ model: 'lax/m', tools: [add] })
    const models = { lax: chatWire.make(lax.url), strict: chatWire.make(strict.url) }
    const { runner } = driven(world, { models, tools: [add] })
    await runner.start()
    await runner.idle()
    await runner.change((changed) => changed.set(agent, Llm, { ...changed.read(agent, Llm), model: 'strict/m' }))
    await runner.message(agent, 'Again.')
    await runner.idle()
    expect(world.read(agent, LastTurn).stop).toBe('done')
  })

  it.each(wiresOfOthers)(
    'that are alike in older conversations are told apart for $name, each with its result',
    async (wire) => {
      const call = (id: string) => ({ type: 'tool-call', id, name: 'add', arguments: {} }) as const
      const long = 'x'.repeat(80)
      const messages: Message[] = [
        userSays('Go.'),
        { role: 'assistant', content: [call('a'), call('a'), call('f.x:0')] },
        resultOf('a', '1'),
        resultOf('a', '2'),
        resultOf('f.x:0', '3'),
        { role: 'assistant', content: [call('a'), call('f_x_0'), call(''), call(`${long}1`), call(`${long}2`)] },
        ...['a', 'f_x_0', '', `${long}1`, `${long}2`].map((id) => resultOf(id, id)),
      ]
      const server = await startScriptedServer(() => wire.text('Fine.'))
      const provider = wire.make(server.url)
      for (const count of [5, 11]) await replyOf(provider, requestOf(messages.slice(0, count)))
      const [calls, results] = idsIn(server.bodies[1], wire)
      expect(calls).toHaveLength(8)
      expect(new Set(calls).size).toBe(8)
      expect(results).toEqual(calls)
      for (const id of calls) expect(id).toMatch(wire.name === 'anthropic' ? /^[a-zA-Z0-9_-]{1,64}$/ : /^.{1,64}$/)
      // A request stays the beginning of the next.
      expect(calls.slice(0, 3)).toEqual(idsIn(server.bodies[0], wire)[0])
    },
  )

  it.each(wiresOfOthers)(
    'that are too long to be ids alone go back to $name as they are, and to no other, nor to another name',
    async (wire) => {
      // LiteLLM puts the signature of a call into its id.
      const id = `call_a.b__thought__${'c2ln/+'.repeat(30)}==`
      const call = (of: string) => ({ type: 'tool-call', id: of, name: 'add', arguments: {} }) as const
      const messages: Message[] = [
        userSays('Go.'),
        { role: 'assistant', content: [call(id), call('short')], model: 'mine/m' },
        resultOf(id, '1'),
        resultOf('short', '2'),
      ]
      const server = await startScriptedServer(() => wire.text('Fine.'))
      const provider = wire.make(server.url)
      for (const name of ['mine', 'another', 'mine']) await replyOf(provider, requestOf(messages, { provider: name }))
      const [own, foreign, again] = server.bodies.map((body) => idsIn(body, wire))
      expect(own?.[0][0]).toBe(id)
      expect(own?.[0][1]).toBe(wire === chatWire ? nineLetters('short') : 'short')
      expect(String(foreign?.[0][0]).length).toBeLessThanOrEqual(64)
      for (const ids of [own, foreign]) expect(ids?.[1]).toEqual(ids?.[0])
      expect(again).toEqual(own)
    },
  )

  it('of nine letters stay, and others become the same nine each time', () => {
    expect(nineLetters('aB3dE6gH9')).toBe('aB3dE6gH9')
    expect(nineLetters('call-1-0')).toBe(nineLetters('call-1-0'))
    expect(nineLetters('\ud800')).toBe(nineLetters('\ufffd'))
    fc.assert(
      fc.property(fc.string(), (id) => /^[a-zA-Z0-9]{9}$/.test(nineLetters(id)) && /^[\w-]{1,64}$/.test(wordId(id))),
    )
  })

  it('that would meet on the wire do not', () => {
    const call = (id: string): Message => ({
      role: 'assistant',
      content: [{ type: 'tool-call', id, name: 'add', arguments: {} }],
    })
    const messages = [call('one'), resultOf('one', '1'), call('two'), resultOf('two', '2')]
    // All of one length are the same id.
    const byLength = (id: string): string => `id${id.length}`
    const [, , second, result] = [...withDistinctIds(messages, byLength)]
    expect(second?.content).toMatchObject([{ id: 'two-2' }])
    expect(result).toMatchObject({ callId: 'two-2' })
    // Without a conflict messages are the same objects, whose form is known.
    expect([...withDistinctIds(messages, (id) => id)].every((message, index) => message === messages[index])).toBe(true)
  })

  it('keep their form for servers that take any', async () => {
    for (const wire of [messagesWire, responsesWire]) {
      const server = await startScriptedServer(() => wire.text('Fine.'))
      const said: Message = {
        role: 'assistant',
        content: [{ type: 'tool-call', id: 'toolu_01A', name: 'add', arguments: {} }],
      }
      await replyOf(wire.make(server.url), requestOf([userSays('Go.'), said, resultOf('toolu_01A', '3')]))
      expect(idsIn(server.bodies[0], wire)).toEqual([['toolu_01A'], ['toolu_01A']])
    }
  })
})
