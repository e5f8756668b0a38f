import { agent, Llm, memoryStore, type Message, textOf } from 'entia'
import { Conversation, LastTurn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, emptyWorld, worldWith } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import { type JsonBody } from '../servers/loopback.ts'
import { refusal, startScriptedServer } from '../servers/scripted-server.ts'
import { call, failureOf, replyOf, requestOf, resultOf, userSays } from './model-calls.ts'
import {
  blocks,
  chatWire,
  chunks,
  items,
  messagesWire,
  responsesWire,
  saidItem,
  type WireOfOthers,
  wiresOfOthers,
} from './wires-of-others.ts'
import { picture } from './wire-samples.ts'

interface Sealed {
  readonly wire: WireOfOthers
  /** A reply with something of the provider's own. */
  readonly raw: string
  /** What the server refuses from then on, and how. */
  readonly own: RegExp
  readonly words: string
}

const thinks = { type: 'thinking', thinking: '', signature: '' }
const thought = { type: 'thinking_delta', thinking: 'Hm.' }
const signed = { type: 'signature_delta', signature: 'c2ln' }
const says = [
  { type: 'text', text: '' },
  { type: 'text_delta', text: 'Hello.' },
] as const

const sealed: readonly Sealed[] = [
  {
    wire: messagesWire,
    raw: blocks([[thinks, thought, signed], says]),
    own: /"type":"thinking"/,
    words: 'messages.1.content.0: Invalid `signature` in `thinking` block',
  },
  {
    wire: responsesWire,
    raw: items([{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }, saidItem('Hello.')]),
    own: /"encrypted_content"/,
    words: 'The encrypted content for item rs_1 could not be verified.',
  },
  {
    wire: chatWire,
    raw: chunks([{ reasoning_content: 'Hm.' }, { content: 'Hello.' }]),
    own: /"reasoning_content"/,
    words:
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
  },
  {
    wire: chatWire,
    raw: chunks([{ content: 'Hello.', odd_details: [{ a: 1 }] }]),
    own: /"odd_details"/,
    words:
      '[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","odd_details"],"msg":"Extra inputs are not permitted"}]',
  },
]

describe.each(sealed)('what $wire.name does not take back any more ($words)', ({ own, raw, wire, words }) => {
  it('is left out, at the price of one refused call, and what it writes then goes back', async () => {
    const isOwn = (body: JsonBody): boolean => own.test(JSON.stringify(body[wire.field]))
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return raw
      // The old one is refused, a newer one is taken.
      const old = JSON.stringify(body[wire.field]).split('And now?', 1)[0] as string
      return own.test(old) ? refusal(words) : raw.replaceAll('Hello.', 'Again.')
    })
    const { world, agent: id } = worldWith({ model: `${wire.name}/m`, messages: 'Hi.' })
    const { runner } = driven(world, { models: { [wire.name]: wire.make(server.url) } })
    await runner.start()
    await runner.idle()
    for (const text of ['And now?', 'Still there?', 'Yes?']) {
      await runner.message(id, text)
      await runner.idle()
      expect(world.read(id, LastTurn)).toMatchObject({ stop: 'done' })
    }
    // One refusal, whatever the number of messages behind it.
    expect(server.bodies).toHaveLength(5)
    expect(server.bodies.map(isOwn)).toEqual([false, true, false, true, true])
    // Of the conversation nothing is lost.
    expect(JSON.stringify(world.read(id, Conversation)[1])).toMatch(/Hm\.|gAAA|odd_details/)
  })

  it('is asked for once more alone: a second refusal is the failure', async () => {
    const server = await startScriptedServer((_, count) => (count === 1 ? raw : refusal(words)))
    const provider = wire.make(server.url)
    const { message } = await replyOf(provider)
    const failure = await failureOf(provider, requestOf([userSays('Hi.'), message, userSays('Thanks.')]))
    expect(failure.kind).toBe('invalid-request')
    expect(server.bodies).toHaveLength(3)
  })
})

describe.each(wiresOfOthers)('a refusal of $name', (wire) => {
  it.each([
    ['of something else', 'No such model.'],
    ['of what is not in the request', 'Invalid `signature` in `thinking` block'],
  ])('%s is not asked for again', async (_, words) => {
    const server = await startScriptedServer(() => refusal(words))
    expect((await failureOf(wire.make(server.url))).kind).toBe('invalid-request')
    expect(server.bodies).toHaveLength(1)
  })

  it.each([
    ['This model does not support image input.', 400],
    ['image input is not supported - hint: you may need to provide the mmproj', 500],
    ['Failed to deserialize: unknown variant `image_url`, expected `text`', 422],
    ['No endpoints found that support image input', 404],
  ])('of pictures is heeded: %s', async (words, status) => {
    const server = await startScriptedServer((body) => {
      return JSON.stringify(body).includes(picture.data) ? refusal(words, {}, status) : wire.text('A note.')
    })
    const provider = wire.make(server.url)
    const call = { type: 'tool-call', id: 'a', name: 'look', arguments: {} } as const
    const messages: Message[] = [
      userSays('Look.'),
      { role: 'assistant', content: [call] },
      { ...resultOf('a', ''), content: [picture] },
    ]
    for (let asked = 0; asked < 2; asked++)
      expect(textOf((await replyOf(provider, requestOf(messages))).message)).toBe('A note.')
    // The second time it is known.
    expect(server.bodies).toHaveLength(3)
    expect(JSON.stringify(server.bodies[2])).toMatch(/not sent: a file \(image\/png, \d+ bytes\)/)
  })

  it.each([
    ["Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.", 404],
    ["Invalid 'input[1].id': 'rs_1'. Expected an ID that begins with 'rs'.", 400],
    ["messages.1.content.0: Input tag 'x' found using 'type' does not match any of the expected tags", 400],
    ['Request contains an invalid argument.', 400],
    ["Invalid value: 'x:search_call'. Supported values are: 'message' and 'reasoning'.", 400],
    ['messages[1]: unknown variant `x`, expected `text`', 422],
  ])('of its own is heeded in the words of each maker: %s', async (words, status) => {
    const { raw, own } = sealed.find((each) => each.wire === wire) as Sealed
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return raw
      return own.test(JSON.stringify(body[wire.field])) ? refusal(words, {}, status) : wire.text('Fine.')
    })
    const provider = wire.make(server.url)
    const { message } = await replyOf(provider)
    for (let asked = 0; asked < 2; asked++)
      await replyOf(provider, requestOf([userSays('Hi.'), message, userSays('Go on.')]))
    expect(server.bodies).toHaveLength(4)
  })

  it.each([
    ['its own first', ['own', 'files']],
    ['pictures first', ['files', 'own']],
  ])('of its own and of pictures at once is heeded: %s', async (_, order) => {
    const { own, raw, words } = sealed.find((each) => each.wire === wire) as Sealed
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return raw
      const text = JSON.stringify(body[wire.field])
      const isRefused = { own: own.test(text), files: text.includes(picture.data) }
      const found = order.find((part) => isRefused[part as 'own'])
      if (found === undefined) return wire.text('Fine.')
      return refusal(found === 'own' ? words : 'This model does not support image input.')
    })
    const provider = wire.make(server.url)
    const { message } = await replyOf(provider)
    const messages: Message[] = [{ role: 'user', content: [picture] }, message, userSays('Go on.')]
    for (let asked = 0; asked < 2; asked++) await replyOf(provider, requestOf(messages))
    // Both are known the second time.
    expect(server.bodies).toHaveLength(5)
  })

  it('that stays the same without its own may be about pictures, and its own goes back then', async () => {
    const { own, raw } = sealed.find((each) => each.wire === wire) as Sealed
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return raw
      const isSeen = JSON.stringify(body[wire.field]).includes(picture.data)
      return isSeen ? refusal('The image is not supported with reasoning.') : wire.text('Fine.')
    })
    const provider = wire.make(server.url)
    const { message } = await replyOf(provider)
    const messages: Message[] = [{ role: 'user', content: [picture] }, message, userSays('Go on.')]
    await replyOf(provider, requestOf(messages))
    expect(JSON.stringify(server.bodies.at(-1))).toMatch(own)
    expect(server.bodies).toHaveLength(4)
  })

  it('that never ends is the failure of the third call', async () => {
    const { raw } = sealed.find((each) => each.wire === wire) as Sealed
    const server = await startScriptedServer((_, count) =>
      count === 1 ? raw : refusal(`Invalid signature, invalid image, ${count}`),
    )
    const provider = wire.make(server.url)
    const { message } = await replyOf(provider)
    const messages: Message[] = [{ role: 'user', content: [picture] }, message, userSays('Go on.')]
    expect((await failureOf(provider, requestOf(messages))).kind).toBe('invalid-request')
    expect(server.bodies).toHaveLength(4)
  })

  it('under a cancelled call is not asked for again', async () => {
    const cancelling = new AbortController()
    const server = await startScriptedServer(() => {
      cancelling.abort()
      return refusal('This model does not support image input.')
    })
    const request = requestOf([{ role: 'user', content: [picture] }])
    const { outcome } = await call(wire.make(server.url), request, { signal: cancelling.signal })
    expect(outcome).toMatchObject({ failure: { kind: 'cancelled' } })
    expect(server.bodies).toHaveLength(1)
  })
})

it('thinking with a budget is off in a step whose thinking was refused, as the API would refuse it then', async () => {
  const use = { type: 'tool_use', id: 'a', name: 'add', input: {} }
  const server = await startScriptedServer((body, count) => {
    if (count === 1) return blocks([[thinks, thought, signed], [use]], 'tool_use')
    if (JSON.stringify(body['messages']).includes('"thinking"'))
      return refusal('Invalid `signature` in `thinking` block')
    return body['thinking'] === undefined
      ? messagesWire.text('Three.')
      : refusal('Expected `thinking` or `redacted_thinking`, but found `tool_use`')
  })
  const world = emptyWorld()
  const add = tool('add', () => '3')
  const id = world.spawn(...agent({ model: 'anthropic/m', tools: [add], messages: 'Add.', thinking: 2_000 }))
  const { runner } = driven(world, {
    models: { anthropic: messagesWire.make(server.url) },
    tools: [add],
    store: memoryStore(),
  })
  await runner.start()
  await runner.idle()
  expect(textOf(world.read(id, Conversation).at(-1))).toBe('Three.')
  expect(world.has(id, Llm)).toBe(true)
  expect(server.bodies).toHaveLength(3)
})

it('thinking with a budget is off in a step whose calls another model made, as the API would refuse it then', async () => {
  const use = { type: 'tool_use', id: 'b', name: 'add', input: {} }
  const server = await startScriptedServer((body) => {
    if (body['thinking'] !== undefined && !JSON.stringify(body['messages']).includes('"thinking"')) {
      return refusal('messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.')
    }
    return messagesWire.text('Three.')
  })
  const made: Message[] = [
    userSays('Add.'),
    { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'add', arguments: {} }], model: 'local/m' },
    resultOf('a', '3'),
  ]
  const provider = messagesWire.make(server.url)
  const options = { options: { thinking: 2_000 } }
  await replyOf(provider, requestOf(made, options))
  expect(server.bodies).toHaveLength(2)
  // So are the further steps of the turn.
  const further: Message = {
    role: 'assistant',
    content: [{ type: 'tool-call', id: use.id, name: 'add', arguments: {} }],
  }
  await replyOf(provider, requestOf([...made, further, resultOf('b', '3')], options))
  expect(server.bodies).toHaveLength(3)
  expect(server.bodies.at(-1)).not.toHaveProperty('thinking')
})
