import { agent, Llm, memoryStore, type Message, SessionPool, SubagentRegistry } from 'entia'
import { Conversation, LastTurn } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { driven, emptyWorld, reopened, settled, worldWith } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import { openaiCompatible } from 'entia/models'
import { listOf } from '../servers/loopback.ts'
import { refusal, startScriptedServer } from '../servers/scripted-server.ts'
import { answered, repliesIn } from './answered.ts'
import { replyOf, requestOf, userSays } from './model-calls.ts'
import { blocks, callItem, chatWire, chunks, items, messagesWire, responsesWire, saidItem } from './wires-of-others.ts'

const signature = 'c2lnbmF0dXJlLW9mLXRob3VnaHQ='
const google = { extra_content: { google: { thought_signature: signature } } }
const called = { name: 'add', arguments: '{"a":1,"b":2}' }
const textOnly = { name: 'local', baseURL: 'http://localhost' }

describe('what a Chat Completions server adds to a reply', () => {
  it('goes back with the call that it stood in', async () => {
    const call = { index: 0, id: 'f-1', type: 'function', function: called, ...google }
    const further = {
      index: 1,
      id: 'f-2',
      type: 'function',
      function: { ...called, provider_specific_fields: { p: [1] } },
    }
    const raw = chunks([{ role: 'assistant', tool_calls: [call] }, { tool_calls: [further] }], 'tool_calls')
    const { back: own, foreign } = await answered(chatWire, raw)
    expect(own).toMatchObject([
      {
        tool_calls: [
          { type: 'function', ...google },
          { function: { ...called, provider_specific_fields: { p: [1] } } },
        ],
      },
    ])
    expect(listOf(own[0]?.['tool_calls'])[1]).not.toHaveProperty('extra_content')
    expect(foreign).not.toMatch(/extra_content|provider_specific/)
  })

  it('goes back with the message that it stood in, put together from its pieces', async () => {
    const detail = (more: object) => ({
      reasoning_details: [{ type: 'reasoning.text', format: 'f-v1', index: 0, ...more }],
    })
    const sealed = { type: 'reasoning.encrypted', data: 'RW5j', index: 1 }
    const { back: own, foreign } = await answered(
      chatWire,
      chunks([
        { role: 'assistant', content: '', refusal: null, annotations: [], ...detail({ text: 'Two and ' }) },
        detail({ text: 'two.' }),
        detail({ text: '', signature }),
        { reasoning_details: [sealed] },
        { content: 'Four.', ...google },
      ]),
    )
    const whole = { type: 'reasoning.text', format: 'f-v1', index: 0, text: 'Two and two.', signature }
    expect(own).toEqual([{ role: 'assistant', content: 'Four.', reasoning_details: [whole, sealed], ...google }])
    expect(foreign).not.toMatch(/reasoning|extra_content/)
  })

  it('goes back from pieces without an index, up to where they are signed', async () => {
    const piece = (thinking: string, seal = '') => ({
      thinking_blocks: [{ type: 'thinking', thinking, signature: seal }],
    })
    const deltas = [
      piece('One, '),
      piece('two.'),
      piece('', 'c2ln'),
      piece('Three.'),
      piece('', 'c2ln'),
      { content: 'Hi.' },
    ]
    const { back: own } = await answered(chatWire, chunks(deltas))
    expect(own[0]?.['thinking_blocks']).toEqual([
      { type: 'thinking', thinking: 'One, two.', signature: 'c2ln' },
      { type: 'thinking', thinking: 'Three.', signature: 'c2ln' },
    ])
  })

  it.each(['reasoning', 'reasoning_content'])(
    'goes back in the field %s, if its thinking came there',
    async (field) => {
      const { back: own, foreign } = await answered(
        chatWire,
        chunks([{ [field]: 'Hm' }, { [field]: '.' }, { content: 'Four.' }]),
      )
      expect(own).toEqual([{ role: 'assistant', content: 'Four.', [field]: 'Hm.' }])
      expect(foreign).not.toContain('Hm.')
    },
  )

  it('goes back among the parts of the content, if its thinking came there', async () => {
    const thinks = (text: string, more: object = {}) => ({
      content: [{ type: 'thinking', thinking: [{ type: 'text', text }], ...more }],
    })
    const reference = { type: 'reference', reference_ids: [1] }
    const {
      content: said,
      back: own,
      foreign,
    } = await answered(
      chatWire,
      chunks([
        thinks('Two '),
        thinks('and two.', { closed: true }),
        { content: [{ type: 'text', text: 'Fo' }] },
        { content: 'ur' },
        { content: [reference] },
        { content: '.' },
      ]),
    )
    expect(said).toMatchObject([
      { type: 'thinking', text: 'Two and two.' },
      { text: 'Four' },
      { type: 'provider' },
      { text: '.' },
    ])
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Two and two.' }], closed: true }
    const content = [thinking, { type: 'text', text: 'Four' }, reference, { type: 'text', text: '.' }]
    expect(own).toEqual([{ role: 'assistant', content }])
    expect(foreign).toContain('Four.')
    expect(foreign).not.toMatch(/Two and|reference/)
  })

  it.each([
    [
      'the type of a function of its own',
      { tool_calls: [{ index: 0, id: 'a', type: 'builtin_function', function: called }] },
      '"type":"builtin_function"',
    ],
    ['thinking that is no text', { reasoning: { steps: ['Hm.'] }, content: 'Four.' }, '"reasoning":{"steps":["Hm."]}'],
  ])('goes back in the form that it had: %s', async (_, delta, back) => {
    const { back: own, foreign } = await answered(chatWire, chunks([delta]))
    expect(JSON.stringify(own)).toContain(back)
    expect(foreign).not.toContain(back)
  })

  it('stays behind where it is about a piece of the stream', async () => {
    const deltas = [
      { channel: 'analysis', token_id: 1, reasoning: 'Hm.' },
      { channel: 'final', token_ids: [2], content: 'Four.' },
    ]
    const { back: own } = await answered(chatWire, chunks(deltas))
    expect(own).toEqual([{ role: 'assistant', content: 'Four.', reasoning: 'Hm.' }])
  })

  it('is left out where no World could hold it, and the reply stays', async () => {
    const deep = JSON.parse(`${'['.repeat(300)}1${']'.repeat(300)}`) as unknown
    const { back: own } = await answered(chatWire, chunks([{ content: 'Four.', odd: deep }]))
    expect(own).toEqual([{ role: 'assistant', content: 'Four.' }])
  })
})

describe('what a Messages server adds to a reply', () => {
  const use = { type: 'tool_use', id: 'call_1', name: 'add', input: {} }
  const written = { type: 'input_json_delta', partial_json: called.arguments }
  const thought = { type: 'thinking_delta', thinking: 'I add them.' }

  it.each([
    ['without a signature', { type: 'thinking', thinking: '' }, { type: 'thinking', thinking: 'I add them.' }],
    [
      'with an empty one',
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking', thinking: 'I add them.', signature: '' },
    ],
  ])('goes back: thinking %s', async (_, start, back) => {
    const { back: own, foreign } = await answered(
      messagesWire,
      blocks(
        [
          [start, thought],
          [use, written],
        ],
        'tool_use',
      ),
    )
    expect(own).toMatchObject([{ content: [back, { type: 'tool_use' }] }])
    expect(listOf(own[0]?.['content'])[0]).toEqual(back)
    expect(foreign).not.toContain('I add them.')
  })

  it('goes back: fields of calls, thinking and texts', async () => {
    const caller = { type: 'code_execution_20250825', tool_id: 'srv_1' }
    const citation = { type: 'char_location', cited_text: 'a', document_index: 0 }
    const cites = { type: 'citations_delta', citation }
    const said = [
      { type: 'text', text: '', citations: [] },
      { type: 'text_delta', text: 'See.' },
      cites,
      cites,
    ] as const
    const { back: own, foreign } = await answered(
      messagesWire,
      blocks(
        [
          [
            { type: 'thinking', thinking: '', signature: '', summary_id: 's1' },
            thought,
            { type: 'signature_delta', signature },
          ],
          said,
          [{ ...use, caller, meta: { z: 1 } }, written],
        ],
        'tool_use',
      ),
    )
    expect(own).toMatchObject([
      {
        content: [
          { type: 'thinking', signature, summary_id: 's1' },
          { type: 'text', text: 'See.', citations: [citation, citation] },
          { type: 'tool_use', caller, meta: { z: 1 }, input: { a: 1, b: 2 } },
        ],
      },
    ])
    expect(foreign).not.toMatch(/summary_id|citations|caller|meta/)
  })
})

describe('what a Responses server adds to a reply', () => {
  it('goes back with its items', async () => {
    const content = [
      { type: 'reasoning_text', text: 'One' },
      { type: 'reasoning_text', text: 'Two' },
    ]
    const reasoning = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Sum' }],
      content,
      encrypted_content: 'RW5j',
      format: 'f-v1',
    }
    const own = { type: 'x:search_call', id: 'x_1', status: 'completed', results: [1] }
    const { back, foreign } = await answered(
      responsesWire,
      items([reasoning, own, saidItem('See.', { extra_content: { a: 1 } }), callItem({ namespace: 'n' })]),
    )
    expect(back).toEqual([
      reasoning,
      own,
      { role: 'assistant', content: 'See.', extra_content: { a: 1 } },
      { type: 'function_call', call_id: 'call_1', name: 'add', arguments: called.arguments, namespace: 'n' },
    ])
    expect(foreign).not.toMatch(/rs_1|search_call|extra_content|namespace/)
  })

  it('stays behind where it waits for an answer that no one gives', async () => {
    const computer = { type: 'computer_call', id: 'cu_1', call_id: 'call_9', action: {} }
    const asks = { type: 'mcp_approval_request', id: 'mcpr_1' }
    const { back: own } = await answered(responsesWire, items([computer, asks, saidItem('Fine.')]))
    expect(own).toEqual([{ role: 'assistant', content: 'Fine.' }])
  })
})

describe('what a provider added', () => {
  const call = { index: 0, id: 'f-1', type: 'function', function: { name: 'add', arguments: '{}' }, ...google }
  const add = tool('add', () => '3')
  const asks = chunks(
    [{ role: 'assistant', tool_calls: [call], reasoning_details: [{ type: 'r', data: 'RW5j' }] }],
    'tool_calls',
  )

  it('goes back over a restart, and not to the provider that the agent then turns to', async () => {
    const server = await startScriptedServer((_, count) => (count === 1 ? asks : chunks([{ content: 'It is 3.' }])))
    const local = (name: string) => openaiCompatible({ name, baseURL: server.url })
    const models = { local: local('local'), other: local('other'), twin: local('local') }
    const store = memoryStore()
    const { world, agent: id } = worldWith({ model: 'local/small', messages: 'Add.', tools: [add] })
    await settled(world, { models, tools: [add], store })
    const { runner, world: again } = await reopened(store, { models, tools: [add] })
    await runner.start()
    await runner.message(id, 'Once more.')
    await runner.idle()
    expect(server.bodies).toHaveLength(3)
    for (const body of server.bodies.slice(1)) {
      expect(repliesIn(body, chatWire)[0]).toMatchObject({
        tool_calls: [google],
        reasoning_details: [{ data: 'RW5j' }],
      })
    }
    for (const model of ['other/small', 'twin/small']) {
      await runner.change((changed) => changed.set(id, Llm, { ...changed.read(id, Llm), model }))
      await runner.message(id, 'And now?')
      await runner.idle()
      expect(JSON.stringify(server.bodies.at(-1))).not.toMatch(/extra_content|reasoning_details/)
    }
    expect(again.read(id, Conversation)).toHaveLength(10)
  })

  it('goes back over a restart where it is thinking without a signature, which its server wants', async () => {
    const thinks = (text: string) =>
      [
        { type: 'thinking', thinking: '' },
        { type: 'thinking_delta', thinking: text },
      ] as const
    const server = await startScriptedServer((body, count) => {
      const isWhole = repliesIn(body, messagesWire).every(({ content }) =>
        listOf(content).some(({ type, thinking }) => type === 'thinking' && thinking === 'I add them.'),
      )
      if (!isWhole) return refusal('The `content[].thinking` in the thinking mode must be passed back to the API.')
      const use = { type: 'tool_use', id: 'call_00', name: 'add', input: {} }
      return count === 1
        ? blocks([thinks('I add them.'), [use]], 'tool_use')
        : blocks([thinks('I add them.'), [{ type: 'text', text: '3.' }]])
    })
    const models = { anthropic: messagesWire.make(server.url) }
    const store = memoryStore()
    const { world, agent: id } = worldWith({ model: 'anthropic/deep', messages: 'Add.', tools: [add] })
    await settled(world, { models, tools: [add], store })
    const { runner, world: again } = await reopened(store, {
      models: { anthropic: messagesWire.make(server.url) },
      tools: [add],
    })
    await runner.start()
    await runner.message(id, 'Once more.')
    await runner.idle()
    expect(again.read(id, LastTurn).stop).toBe('done')
    expect(server.bodies).toHaveLength(3)
  })

  it('goes to its provider from a fork as well', async () => {
    const fork = {
      id: 'f-2',
      index: 0,
      type: 'function',
      function: { name: 'subagent', arguments: '{"prompt":"Go","category":"fork"}' },
      ...google,
    }
    const server = await startScriptedServer((body, count) => {
      if (count === 1) return asks
      if (JSON.stringify(body).includes('Directive: Go') || count > 2) return chunks([{ content: 'Scope: all' }])
      return chunks([{ tool_calls: [fork] }], 'tool_calls')
    })
    const world = emptyWorld()
    world.spawn(...agent({ model: 'local/small', tools: [add], messages: 'Go.' }), SubagentRegistry({ subagents: {} }))
    const models = { local: openaiCompatible({ name: 'local', baseURL: server.url }) }
    const { runner } = driven(world, { models, tools: [add], sessionPool: new SessionPool() })
    await runner.start()
    await runner.idle()
    const forked = server.bodies.find((body) => JSON.stringify(body).includes('Directive: Go'))
    expect(repliesIn(forked, chatWire)).toMatchObject([
      { tool_calls: [google], reasoning_details: [{ data: 'RW5j' }] },
      { tool_calls: [google] },
    ])
  })

  it('of no provider is needed for a request in the words of an earlier version', async () => {
    const thinking = { type: 'thinking', provider: 'local', text: 'Hm.' } as const
    const said: Message = {
      role: 'assistant',
      content: [thinking, { type: 'text', text: 'Four.' }],
      model: 'local/small',
    }
    const server = await startScriptedServer(() => chunks([{ content: 'Fine.' }]))
    const provider = openaiCompatible({ ...textOnly, baseURL: server.url })
    await replyOf(provider, requestOf([userSays('Add.'), said, userSays('Thanks.')], { provider: 'local' }))
    expect(repliesIn(server.bodies[0], chatWire)).toEqual([
      { role: 'assistant', content: 'Four.', reasoning_content: 'Hm.' },
    ])
  })
})
