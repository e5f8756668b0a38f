import { LLMock } from '@copilotkit/aimock'
import {
  agent,
  Conversation,
  defineTool,
  LastTurn,
  type ModelProvider,
  run,
  standardSystems,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import { anthropic, openai, openaiCompatible, standardRetry } from 'entia/models'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, failureOf, joined, requestOf, userSays } from './model-calls.ts'

// The wire as others have written it: a server that shares no code and no author with the adapters and their servers here.
const mock = new LLMock({ port: 0, logLevel: 'silent' })
const apiKey = 'sk-of-no-account'

const providers: readonly (readonly [name: string, make: () => ModelProvider])[] = [
  ['anthropic', () => anthropic({ baseURL: mock.url, apiKey })],
  ['openai', () => openai({ baseURL: `${mock.url}/v1`, apiKey })],
  ['openaiCompatible', () => openaiCompatible({ name: 'local', baseURL: `${mock.url}/v1`, apiKey })],
]

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  restart: 'pure',
  run: ({ a, b }) => a + b,
})

beforeAll(async () => void (await mock.start()))
afterAll(() => mock.stop())
beforeEach(() => {
  mock.clearChaos().reset()
  mock.on(
    { userMessage: 'What is 2 + 3?', hasToolResult: false },
    { toolCalls: [{ name: 'add', arguments: '{"a":2,"b":3}' }] },
  )
  mock.on({ hasToolResult: true }, { content: 'It is 5.' })
  mock.onMessage('Hello', { content: 'Good day, and welcome.' })
})

/** So many agents that ask one question each, with tries enough for a server that fails often. */
async function asked(provider: ModelProvider, count: number): Promise<World> {
  const world = new World({ seed: 7, systems: standardSystems() })
  const retry = { ...standardRetry, maxAttempts: 40 }
  for (let index = 0; index < count; index++) {
    world.spawn(...agent({ model: 'mock/any', tools: [add], messages: 'What is 2 + 3?', retry }))
  }
  await run(world, { models: { mock: provider }, tools: [add], clock: new VirtualClock() })
  return world
}

describe.each(providers)('%s, against a server that others have written,', (_, make) => {
  it('gives a text as it is streamed', async () => {
    const { outcome, deltas } = await call(make(), requestOf([userSays('Hello')]))
    expect(outcome).toMatchObject({ ok: true, value: { stop: 'end', message: { role: 'assistant' } } })
    expect(joined(deltas, 'text')).toBe('Good day, and welcome.')
  })

  it('calls a tool, sends its result, and gives the answer', async () => {
    const world = await asked(make(), 1)
    const [one = 0] = world.query(Conversation)
    const messages = [...world.read(one, Conversation)]
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(messages.slice(2).map(textOf)).toEqual(['5', 'It is 5.'])
  })

  it.each([
    [429, 'rate-limited'],
    [401, 'unauthorized'],
    [400, 'invalid-request'],
    [503, 'overloaded'],
  ] as const)('fails on status %i as %s, with what was said', async (status, kind) => {
    mock.nextRequestError(status, { message: 'No such luck.' })
    const failure = await failureOf(make(), requestOf([userSays('Hello')]))
    expect(failure).toMatchObject({ kind, message: expect.stringContaining('No such luck.') })
  })

  it(
    'answers 20 agents though the server drops, garbles, cuts and refuses one call in three',
    { timeout: 60_000 },
    async () => {
      mock.setChaos({ dropRate: 0.1, malformedRate: 0.1, disconnectRate: 0.1, rateLimitRate: 0.1 })
      const world = await asked(make(), 20)
      const stops = world.query(LastTurn).map((one) => world.read(one, LastTurn).stop)
      expect(stops).toEqual(Array(20).fill('done'))
      expect(mock.getRequests().length).toBeGreaterThan(40)
    },
  )
})
