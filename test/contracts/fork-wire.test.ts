import { agent, type ModelProvider, SessionPool, SubagentRegistry } from 'entia'
import { anthropic, openai, openaiCompatible } from 'entia/models'
import { nineLetters } from '../../src/models/call-ids.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { driven, emptyWorld } from '../behaviour/turns/driving.ts'
import { tool } from '../behaviour/turns/tools.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import type { Handler, JsonBody, LoopbackServer, Received } from '../servers/loopback.ts'
import { startResponsesServer } from '../servers/responses-server.ts'
import { withoutMarks } from './wire-samples.ts'

let server: LoopbackServer | undefined
afterEach(() => server?.close())

/** A provider's own adapter, SDK and all, and where it puts the conversation. */
interface Wire {
  readonly model: string
  readonly field: 'messages' | 'input'
  readonly start: (handler: Handler) => Promise<LoopbackServer>
  readonly adapter: (url: string) => ModelProvider
  /** How the protocol writes the id of a call. */
  readonly wireId: (id: string) => string
}

const wires: Readonly<Record<string, Wire>> = {
  'the Messages API': {
    model: 'anthropic/small',
    field: 'messages',
    start: startAnthropicServer,
    adapter: (baseURL) => anthropic({ baseURL, apiKey: 'key' }),
    wireId: (id) => id,
  },
  'the Responses API': {
    model: 'openai/small',
    field: 'input',
    start: startResponsesServer,
    adapter: (baseURL) => openai({ baseURL, apiKey: 'key' }),
    wireId: (id) => id,
  },
  'the Chat Completions API': {
    model: 'local/small',
    field: 'messages',
    start: startChatServer,
    adapter: (baseURL) => openaiCompatible({ name: 'local', baseURL }),
    wireId: nineLetters,
  },
}

const thinking = { text: 'Hm … “two”\u2028', seal: 'c2lnbmF0dXJl+/==' }
/** More blocks than Anthropic looks back for an entry of its cache. */
const searches = Array.from({ length: 12 }, (_, index) => ({ id: `call_s${index}`, name: 'search', arguments: '{}' }))

/** A step with a tool, then one that asks for two forks and more; forks report, and the parent is done. */
function model(wireId: Wire['wireId']): Handler {
  return ({ text }) => {
    if (text.includes('Directive: ')) return { text: 'Scope: all of it' }
    if (!text.includes(wireId('call_first')))
      return { thinking, toolCalls: [{ id: 'call_first', name: 'search', arguments: '{}' }] }
    if (text.includes(wireId('call_left'))) return { text: 'Done.' }
    return { thinking, text: 'Two ways …', toolCalls: [fork('left'), ...searches, fork('right')] }
  }
}

function fork(way: string) {
  const input = `{ "prompt": "Go ${way}",  "category": "fork" }`
  return { id: `call_${way}`, name: 'subagent', arguments: input }
}

/** What came over the wire: the request that was answered with the forks, the parent's next, and the first of each fork. */
async function forked({ model: name, start, adapter, wireId }: Wire) {
  server = await start(model(wireId))
  const search = tool('search', () => 'Found “it”.', { description: 'Searches …' })
  const world = emptyWorld()
  const system = 'Use these:\n${_installed_tools}'
  world.spawn(
    ...agent({ model: name, system, tools: [search], messages: 'Go “on”' }),
    SubagentRegistry({ subagents: {} }),
  )
  const models = { [name.split('/')[0] as string]: adapter(server.url) }
  const { runner, told } = driven(world, { models, tools: [search], sessionPool: new SessionPool() })
  await runner.start()
  await runner.idle()
  expect(told('prefix-broken')).toEqual([])
  const { requests } = server
  const found = (wanted: string): Received => {
    const request = requests.find(({ text }) => text.includes(wanted))
    if (request === undefined) throw new Error(`No request holds ${wanted}.`)
    return request
  }
  const isNext = ({ text }: Received): boolean => text.includes(wireId('call_left')) && !text.includes('Directive: ')
  const next = requests.find(isNext) as Received
  return {
    asking: requests[1] as Received,
    next,
    left: found('Directive: Go left'),
    right: found('Directive: Go right'),
  }
}

/** A body's text, marks aside, up to the end of the message with the calls. */
function sharedText(body: JsonBody, { field, wireId }: Wire): string {
  const bare = withoutMarks(body)
  const items = bare[field] as readonly object[]
  const calling = items.findIndex((item) => JSON.stringify(item).includes(`"${wireId('call_right')}"`))
  const asText = JSON.stringify(bare)
  const item = JSON.stringify(items[calling])
  return asText.slice(0, asText.indexOf(item) + item.length)
}

describe.for(Object.entries(wires))('forks over %s', ([, wire]) => {
  const { field, wireId } = wire

  it('begin, byte for byte, with what their parent’s next request begins with', async () => {
    const { asking, next, left, right } = await forked(wire)
    const shared = sharedText(next.body, wire)
    expect(shared).toContain('Use these:')
    expect(shared).toContain('Found “it”.')
    expect(shared).toContain(wireId('call_first'))
    expect(shared).toContain(wireId('call_s11'))
    const asked = JSON.stringify((withoutMarks(asking.body)[field] as readonly object[]).at(-1))
    expect(shared).toContain(asked)
    for (const { body } of [left, right]) {
      expect(sharedText(body, wire)).toBe(shared)
      const { [field]: _, ...rest } = withoutMarks(body)
      const { [field]: __, ...others } = withoutMarks(next.body)
      expect(JSON.stringify(rest)).toBe(JSON.stringify(others))
    }
  })

  it('differ from each other in their directives alone', async () => {
    const { left, right } = await forked(wire)
    expect(left.text.split('Directive: Go left')).toHaveLength(2)
    expect(left.text.replace('Directive: Go left', 'Directive: Go right')).toBe(right.text)
    for (const id of ['call_left', 'call_s0', 'call_right']) expect(left.text.split(`"${wireId(id)}"`)).toHaveLength(3)
    expect(left.text.split('Fork started — processing in background')).toHaveLength(searches.length + 3)
  })
})

interface Block {
  readonly type: string
  readonly cache_control?: object
}

/** Where a request to Anthropic has its cache breakpoints: message and block, `system` apart. */
function marksOf({ body }: Received): string[] {
  const { system, messages } = body as {
    readonly system: readonly Block[]
    readonly messages: readonly { readonly content: readonly Block[] }[]
  }
  const named = [...system.map((block) => ['system', block] as const), ...messages.flatMap(blocksOf)]
  return named.flatMap(([place, block]) => (block.cache_control === undefined ? [] : [place]))
}

function blocksOf({ content }: { readonly content: readonly Block[] }, message: number) {
  return content.map((block, index) => [`${message}.${index} ${block.type}`, block] as const)
}

describe('the cache breakpoints of forks at Anthropic', () => {
  it('are where the last request of their parent has left an entry, however much lies in between', async () => {
    const { asking, next, left, right } = await forked(wires['the Messages API'] as Wire)
    const entry = '2.0 tool_result'
    expect(marksOf(asking)).toEqual(['system', '0.0 text', entry])
    expect(marksOf(next)).toEqual(['system', entry, '4.13 tool_result'])
    for (const request of [left, right]) expect(marksOf(request)).toEqual(['system', entry, '4.14 text'])
  })
})
