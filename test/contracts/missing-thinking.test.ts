import { Llm, type Message } from 'entia'
import { Conversation, LastTurn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, worldWith } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import { type JsonBody, listOf } from '../servers/loopback.ts'
import { refusal, startScriptedServer } from '../servers/scripted-server.ts'
import { repliesIn } from './answered.ts'
import { failureOf, replyOf, requestOf, resultOf, userSays } from './model-calls.ts'
import { blocks, chatWire, chunks, messagesWire, type WireOfOthers } from './wires-of-others.ts'

interface Strict {
  readonly wire: WireOfOthers
  readonly words: string
  /** Does a reply have what the server wants of each? */
  readonly fits: (message: JsonBody) => boolean
  /** A call of a tool as its own model makes it. */
  readonly own: string
}

const call = (more: object = {}) => ({
  tool_calls: [{ index: 0, id: 'f-2', type: 'function', function: { name: 'add', arguments: '{}' }, ...more }],
})
const own = { google: { thought_signature: 'c2ln' } }

const stricts: readonly Strict[] = [
  {
    wire: chatWire,
    words: 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
    // An empty one is none.
    fits: ({ reasoning_content: text }) => Boolean(text),
    own: chunks([{ reasoning_content: 'Hm.' }, call()], 'tool_calls'),
  },
  {
    wire: chatWire,
    words: 'Function call is missing a thought_signature in functionCall parts.',
    fits: ({ tool_calls: calls }) => {
      const [first] = listOf(calls)
      return first === undefined || JSON.stringify(first).includes('"thought_signature"')
    },
    own: chunks([call({ extra_content: own })], 'tool_calls'),
  },
  {
    wire: messagesWire,
    words: 'The `content[].thinking` in the thinking mode must be passed back to the API.',
    fits: ({ content }) => listOf(content).some(({ type, thinking }) => type === 'thinking' && Boolean(thinking)),
    own: blocks(
      [
        [
          { type: 'thinking', thinking: '' },
          { type: 'thinking_delta', thinking: 'Hm.' },
        ],
        [{ type: 'tool_use', id: 'toolu_2', name: 'add', input: {} }],
      ],
      'tool_use',
    ),
  },
]

describe.each(stricts)('a server that says "$words"', ({ fits, own: calls, wire, words }) => {
  const strict = (answer: (body: JsonBody, taken: number) => string) => {
    let taken = 0
    return startScriptedServer((body) => (repliesIn(body, wire).every(fits) ? answer(body, ++taken) : refusal(words)))
  }

  it('goes on with what another model began, at the price of one refused call', async () => {
    const lax = await startScriptedServer((_, count) =>
      count === 1 ? chunks([call()], 'tool_calls') : chatWire.text('3.'),
    )
    const server = await strict((_, taken) => (taken === 1 ? calls : wire.text('Fine.')))
    const add = tool('add', () => '3')
    const { world, agent } = worldWith({ model: 'lax/m', tools: [add] })
    const models = { lax: chatWire.make(lax.url), [wire.name]: wire.make(server.url) }
    const { runner } = driven(world, { models, tools: [add] })
    await runner.start()
    await runner.idle()
    const model = `${wire.name}/m`
    await runner.change((changed) => changed.set(agent, Llm, { ...changed.read(agent, Llm), model }))
    for (const text of ['Again.', 'And again.']) {
      await runner.message(agent, text)
      await runner.idle()
      expect(world.read(agent, LastTurn)).toMatchObject({ stop: 'done' })
    }
    // A refused one, two of the first turn, and what the second needs: its model says "Fine." without thinking.
    expect(server.bodies.length).toBeLessThanOrEqual(5)
    const sent = JSON.stringify(server.bodies.at(-1))
    // What its own model has written is as it wrote it, and the conversation has no placeholder.
    expect(sent).toMatch(/Hm\.|c2ln/)
    expect(JSON.stringify(world.read(agent, Conversation))).not.toMatch(
      /skip_thought|"thinking","provider":"[a-z]+","text":" "/,
    )
  })

  it('that says so still is answered twice alone', async () => {
    const server = await startScriptedServer(() => refusal(words))
    const made: Message[] = [
      userSays('Add.'),
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'add', arguments: {} }] },
      resultOf('a', '3'),
    ]
    expect((await failureOf(wire.make(server.url), requestOf(made))).kind).toBe('invalid-request')
    expect(server.bodies).toHaveLength(2)
  })

  it('is not asked again for what it has not got to see', async () => {
    const server = await startScriptedServer(() => refusal(words))
    expect((await failureOf(wire.make(server.url))).kind).toBe('invalid-request')
    expect(server.bodies).toHaveLength(1)
  })
})

it('only the first call of a reply gets a signature that stands for any', async () => {
  const server = await startScriptedServer((body) =>
    JSON.stringify(body).includes('thought_signature')
      ? chatWire.text('Fine.')
      : refusal('missing a thought_signature'),
  )
  const block = (id: string) => ({ type: 'tool-call', id, name: 'add', arguments: {} }) as const
  const messages: Message[] = [
    userSays('Add.'),
    { role: 'assistant', content: [block('a'), block('b')] },
    resultOf('a', '3'),
    resultOf('b', '3'),
  ]
  await replyOf(chatWire.make(server.url), requestOf(messages))
  const [first, second] = listOf(repliesIn(server.bodies[1], chatWire)[0]?.['tool_calls'])
  expect(first).toMatchObject({ extra_content: { google: { thought_signature: expect.any(String) as string } } })
  expect(second).not.toHaveProperty('extra_content')
})
