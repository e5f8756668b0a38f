import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as components from '../../components/index.ts'
import {
  agent,
  defineComponent,
  defineTool,
  type Entity,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  SubagentRegistry,
  textOf,
  World,
} from '../../src/index.ts'
import { anthropic, openai, openaiCompatible } from '../../src/doors/models.ts'
import type { ModelProvider } from '../../src/models/port.ts'
import { inspectorHandler, LivingSource, StoreSource, type Source } from '../../src/inspector/index.ts'
import type { CacheReply, CallsReply, RequestReply } from '../../src/inspector/reading/wire.ts'
import { project } from '../../src/rules/projection/project.ts'
import { startAnthropicServer } from '../servers/anthropic-server.ts'
import { startChatServer } from '../servers/chat-server.ts'
import { startResponsesServer } from '../servers/responses-server.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => `${at} is there. `.repeat(40),
})

const system = 'You look around. '.repeat(60)

/** A world with one agent, driven until it is done. */
async function driven(name: string, models: Record<string, ModelProvider>, model: string, more: object = {}) {
  const world = new World({ name, seed: 3, systems: standardSystems() })
  const worker = world.spawn(
    ...agent({ model, system, tools: [look], messages: 'Look around, in the house.', ...more }),
    SubagentRegistry({ subagents: {} }),
  )
  const store = memoryStore()
  const runner = new Runner(world, { models, tools: [look], store, record: true })
  await runner.start()
  await runner.idle()
  return { runner, store, worker, world }
}

const twoSteps = scripted(
  ({ messages }) =>
    messages.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'look', arguments: { at: 'a chair' } }] } : 'All seen.',
  { usage: { input: 100, cacheRead: 300, output: 20 } },
)

/** What the inspector answers a page. */
async function asked<Reply>(
  source: Source,
  route: string,
  query: Record<string, string | number> = {},
): Promise<Reply> {
  const handler = inspectorHandler({ source, token: 'token', allowedHosts: ['localhost'] })
  const url = new URL(`http://localhost/api/${route}`)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
  const response = await handler(new Request(url, { headers: { authorization: 'Bearer token', host: 'localhost' } }))
  const reply = (await response.json()) as Reply
  expect(response.status, JSON.stringify(reply)).toBe(200)
  return reply
}

describe('the calls of a world', () => {
  it('have their ticks, what the provider said of them, and the messages that came with them', async () => {
    const { runner, worker } = await driven('calls', { script: twoSteps }, 'script/x')
    const { calls, edits } = await asked<CallsReply>(new LivingSource(runner), 'calls', {
      world: 'calls',
      from: 0,
      to: 99,
    })
    expect(calls.map(({ agent: who, state, step, usage }) => ({ who, state, step, usage }))).toEqual([
      { who: worker, state: 'replied', step: 1, usage: { input: 100, cacheRead: 300, output: 20 } },
      { who: worker, state: 'replied', step: 2, usage: { input: 100, cacheRead: 300, output: 20 } },
    ])
    expect(edits.reduce((sum, { added, removed }) => sum + added - removed, 0)).toBe(3)
    expect(edits.map(({ tick }) => tick)).toContain(calls[1]?.endTick)
    await runner.stop()
  })

  it('that failed and were tried again say each tick in which they began', async () => {
    const { fail } = await import('../../src/index.ts')
    const flaky = scripted((_, { attempt }) => (attempt < 3 ? fail('overloaded') : 'At last.'), {
      retry: { maxAttempts: 3, firstDelayMs: 1, maxDelayMs: 1, kinds: ['overloaded'] },
    })
    const { runner } = await driven('tries', { script: flaky }, 'script/x')
    const { calls } = await asked<CallsReply>(new LivingSource(runner), 'calls', { world: 'tries' })
    expect(calls).toHaveLength(1)
    expect(calls[0]?.tries).toHaveLength(3)
    expect(calls[0]).toMatchObject({ state: 'replied' })
    expect(calls[0]?.failure).toBeUndefined()
    await runner.stop()
  })
})

const servers = {
  anthropic: {
    start: startAnthropicServer,
    provider: (baseURL: string, apiKey: string) => anthropic({ apiKey, baseURL }),
  },
  openai: { start: startResponsesServer, provider: (baseURL: string, apiKey: string) => openai({ apiKey, baseURL }) },
  local: {
    start: startChatServer,
    provider: (baseURL: string, apiKey: string) => openaiCompatible({ name: 'local', apiKey, baseURL }),
  },
}

describe('a request in the form of its provider', () => {
  for (const [name, { provider, start }] of Object.entries(servers)) {
    it(`is what ${name} was sent, byte for byte, and has no key in it`, async () => {
      const server = await start(({ body }) =>
        JSON.stringify(body).includes('a chair')
          ? { text: 'All seen.' }
          : { toolCalls: [{ id: 'c1', name: 'look', arguments: '{"at":"a chair"}' }] },
      )
      const key = 'sk-secret-0123456789'
      const { runner } = await driven('wire', { [name]: provider(server.url, key) }, `${name}/small`, {
        output: z.object({ seen: z.string() }),
        maxOutputTokens: 4_000,
      })
      const source = new LivingSource(runner)
      const { calls } = await asked<CallsReply>(source, 'calls', { world: 'wire' })
      expect(calls.length).toBeGreaterThanOrEqual(2)
      for (const [index, { effect, tick }] of calls.slice(0, 2).entries()) {
        const reply = await asked<RequestReply>(source, 'request', { world: 'wire', tick, effect })
        const received = server.requests[index]
        expect(JSON.stringify(reply.wire?.body)).toBe(received?.text)
        expect(new URL(reply.wire?.url ?? '').pathname).toBe(received?.path)
        expect(JSON.stringify(reply)).not.toContain(key)
        for (const [header, value] of Object.entries(reply.wire?.headers ?? {})) {
          expect(received?.headers[header], header).toBe(value)
        }
        for (const header of Object.keys(reply.wire?.keys ?? {})) expect(received?.headers[header]).toContain(key)
      }
      await runner.stop()
      await server.close()
    })
  }

  it('shows no header of the program that may hold a key, and none in its address', async () => {
    const provider = openaiCompatible({
      name: 'local',
      baseURL: 'http://me:password-1234@localhost:1/v1?token=secret-5678&api-version=3',
      headers: { 'x-tenant': 'secret-9999', 'user-agent': 'mine' },
    })
    const world = new World({ systems: standardSystems() })
    const worker = world.spawn(...agent({ model: 'local/x', messages: 'Look.' }))
    const wire = await provider.wire?.(project(world, worker))
    expect(wire).toMatchObject({
      url: 'http://localhost:1/v1/chat/completions?api-version=3',
      headers: { 'user-agent': 'mine' },
      keys: { 'x-tenant': '$X_TENANT' },
    })
    expect(JSON.stringify(wire)).not.toMatch(/secret|password/)
  })
})

describe('a request in its parts', () => {
  it('is the one that was made, at any tick and whatever came later, also of a world with components that no one knows', async () => {
    const Unknown = defineComponent('Unknown', () => z.strictObject({ of: z.string() }))
    const { runner, store, worker } = await driven('parts', { script: twoSteps }, 'script/x')
    await runner.change((world) => {
      world.set(worker, Unknown, { of: 'mine' })
      world.set(worker, components.SystemPrompt, { template: 'Another one.' })
    })
    await runner.message(worker, 'And the garden?')
    await runner.idle()
    await runner.stop()
    const source = new StoreSource({ store, title: 'a store' })
    const { calls } = await asked<CallsReply>(source, 'calls', { world: 'parts' })
    const [first, , third] = calls
    const at = (call: CallsReply['calls'][number] | undefined) =>
      asked<RequestReply>(source, 'request', { world: 'parts', tick: call?.tick ?? 0, effect: call?.effect ?? 0 })
    // Later ones first: an earlier one needs another snapshot.
    const late = await at(third)
    const early = await at(first)
    const texts = ({ parts }: RequestReply) =>
      parts.map(({ component, kind, value }) => [kind, component, value] as const)
    expect(texts(early).filter(([kind]) => kind === 'system')).toEqual([['system', 'SystemPrompt', system]])
    expect(texts(late).filter(([kind]) => kind === 'system')).toEqual([['system', 'SystemPrompt', 'Another one.']])
    expect(texts(early).filter(([kind]) => kind === 'message')).toHaveLength(1)
    expect(texts(late).filter(([kind]) => kind === 'message')).toHaveLength(5)
    for (const { parts, tokens } of [early, late]) {
      expect(tokens).toBe(parts.reduce((sum, part) => sum + part.tokens, 0))
      parts.forEach((part, index) => expect(part.fromByte).toBe(parts[index - 1]?.toByte ?? 0))
    }
  })

  it('that is no call says so', async () => {
    const { runner } = await driven('none', { script: twoSteps }, 'script/x')
    const handler = inspectorHandler({ source: new LivingSource(runner), token: 'token', allowedHosts: ['localhost'] })
    const url = 'http://localhost/api/request?world=none&tick=1&effect=77'
    const response = await handler(new Request(url, { headers: { authorization: 'Bearer token', host: 'localhost' } }))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('no model call'),
    })
    await runner.stop()
  })
})

describe('the cache of a world', () => {
  it('is broken by the component that changed, from the first byte that differs on', async () => {
    const { runner, worker } = await driven('cache', { anthropic: twoSteps }, 'anthropic/claude-sonnet-4-5')
    const changed = `${system.slice(0, 100)}CHANGED${system.slice(100)}`
    await runner.change((world) => world.set(worker, components.SystemPrompt, { template: changed }))
    await runner.message(worker, 'And the garden?')
    await runner.idle()
    const source = new LivingSource(runner)
    const { requests } = await asked<CacheReply>(source, 'cache', { world: 'cache' })
    const { calls } = await asked<CallsReply>(source, 'calls', { world: 'cache' })
    expect(requests.map(({ broken }) => broken?.component)).toEqual([undefined, undefined, 'SystemPrompt', undefined])
    const [first, second, third] = requests
    expect(first?.before).toBeUndefined()
    expect(third?.before).toEqual({ world: 'cache', effect: calls[1]?.effect, tick: calls[1]?.tick })
    const before = await asked<RequestReply>(source, 'request', {
      world: 'cache',
      tick: second!.tick,
      effect: second!.effect,
    })
    const prompt = before.parts.find(({ kind }) => kind === 'system')!
    expect(third?.broken?.atByte).toBe(prompt.fromByte + 100)
    expect(third?.sharedBytes).toBe(prompt.fromByte + 100)
    expect(third?.broken?.after).toContain('CHANGED')
    expect(third?.broken?.before).not.toContain('CHANGED')
    // All that the request before had sent is paid again, but for what stands before the change.
    const { paidAgainNanoUsd = 0, paidAgainTokens = 0 } = third?.broken ?? {}
    expect(paidAgainTokens).toBe(second!.totalTokens - third!.sharedTokens)
    expect(paidAgainTokens).toBeGreaterThan(300)
    // Three dollars a million.
    expect(paidAgainNanoUsd).toBe(paidAgainTokens * 3_000)
    await runner.stop()
  })

  it('of a fork goes on from the last request of its parent', async () => {
    const model = scripted(({ messages }) => {
      const last = textOf(messages.at(-1))
      if (last.includes('Directive:')) return 'Nothing to complain of.'
      if (messages.length > 1) return 'It can be sold.'
      return { toolCalls: [{ name: 'subagent', arguments: { category: 'fork', prompt: 'Look at the roof.' } }] }
    })
    const { runner, store, world } = await driven('house', { script: model }, 'script/x')
    const [session] = world.entitiesWith(components.SubagentSession)
    const { sessionId } = world.read(session as Entity, components.SubagentSession)
    await runner.stop()
    const source = new StoreSource({ store, title: 'a store' })
    const { requests } = await asked<CacheReply>(source, 'cache', { world: sessionId })
    const { calls } = await asked<CallsReply>(source, 'calls', { world: 'house' })
    expect(requests[0]?.before).toEqual({ world: 'house', effect: calls[0]?.effect, tick: calls[0]?.tick })
    expect(requests[0]?.broken).toBeUndefined()
    expect(requests[0]?.sharedTokens).toBeGreaterThan(200)
  })
})
