import {
  assistant,
  Conversation,
  Llm,
  memoryStore,
  type Message,
  type ModelRequest,
  type ScriptedOptions,
  SessionPool,
  SystemPrompt,
  user,
} from 'entia'
import { Blueprint, SharedHistory, Skills } from 'entia/components'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { reopened } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { forkCall, forkRequests, lines, onlySession, parentAndFork, parentRequests } from './forking.ts'
import { call, calls, delegate, provider, sessionsOf, stepwise, team, type TeamOptions, type Team } from './team.ts'

/** Of all that a provider is sent, up to so many messages. */
function hashOf({ model, options, outputSchema, system, tools, messages }: ModelRequest, count: number): string {
  const bytes = JSON.stringify({ model, options, outputSchema, system, tools, messages: messages.slice(0, count) })
  return createHash('sha256').update(bytes).digest('hex')
}

const search = tool('search', () => 'Found.', { description: 'Searches “all” of it.' })
const looking = calls(forkCall('left', 'Go left'), call('found', 'search'), forkCall('right', 'Go right'))

const system = 'Use ${_installed_tools}, ask ${_installed_subagents}, know ${_installed_skills}. ${HOME}'
const llm = { model: 'lead/x', temperature: 0.5, thinking: 'low', maxOutputTokens: 900, timeoutMs: 5_000 } as const

/** A lead that knows and has a lot, and forks twice in its second step. */
function forkingTwice({ parts = [], ...options }: TeamOptions = {}): Team {
  const skills = Skills({ installed: [{ name: 'poetry', prompt: 'Rhyme.', tools: ['search'] }] })
  return team({
    lead: parentAndFork(stepwise(calls(call('first', 'search')), looking)),
    parts: [Llm(llm), skills, ...parts],
    runner: { tools: [search], sessionPool: new SessionPool() },
    ...options,
    agent: { tools: [search], system, ...options.agent },
  })
}

describe('the prefix that a fork shares with its parent', () => {
  it('is the same, byte for byte, in the next request of the parent and in the first of each fork', async () => {
    const made = forkingTwice()
    await made.run()
    const [, asking, next] = parentRequests(made)
    const forks = forkRequests(made)
    expect(forks).toHaveLength(2)
    // All that the model had seen, and its answer.
    const shared = (asking?.messages.length ?? 0) + 1
    const hashes = [next, ...forks].map((request) => hashOf(request as ModelRequest, shared))
    expect(new Set(hashes).size).toBe(1)
    expect(lines(next as ModelRequest)[shared - 1]).toBe('assistant:  <left> <found> <right>')
    expect(next?.system).toContain('Rhyme.')
    expect(next?.options).toEqual({ temperature: 0.5, thinking: 'low', maxOutputTokens: 900 })
  })

  it('goes on, between forks of one message, up to their directives', async () => {
    const made = forkingTwice()
    await made.run()
    const [left, right] = forkRequests(made).map((request) => JSON.stringify([request.system, request.messages]))
    const [before, behind] = (left as string).split('Directive: Go left')
    expect(right).toBe(`${before}Directive: Go right${behind}`)
    expect(behind).toMatch(/^"[^"]*"type":"text"\}\][^a-z]*"role":"user"\}\]\]$/)
  })

  it('has one hash, which stands in the records of all forks of one message', async () => {
    const made = forkingTwice()
    await made.run()
    const [left, right] = made.sessions()
    expect(left?.prefixHash).toMatch(/^[0-9a-f]{64}$/)
    expect(right?.prefixHash).toBe(left?.prefixHash)
    expect(made.told('prefix-broken')).toEqual([])
  })

  it.for<[what: string, options: TeamOptions]>([
    ['the model', { parts: [Llm({ ...llm, model: 'lead/y' })] }],
    ['an option', { parts: [Llm({ ...llm, thinking: 'high' })] }],
    ['the system prompt', { agent: { system: 'Be brief.' } }],
    ['a skill', { parts: [Skills({ installed: [{ name: 'prose', prompt: 'Plainly.' }] })] }],
    ['the tools', { agent: { tools: [tool('search', () => 'Found.')] } }],
    ['the history', { agent: { messages: 'Gone' } }],
    ['what the provider adds', { leadOptions: { settings: { beta: 'wide' } } }],
  ])('has another hash with another one of %s', async ([, options]) => {
    const [plain, other] = [forkingTwice(), forkingTwice(options)]
    await plain.run()
    await other.run()
    const [one, two] = [plain, other].map((made) => made.sessions()[0]?.prefixHash)
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(two).toMatch(/^[0-9a-f]{64}$/)
    expect(two).not.toBe(one)
  })

  it('is told to be nothing where the agent has asked no model yet, and the fork has a prompt of its own', async () => {
    const made = team({ agent: { messages: [] }, lead: parentAndFork(() => 'Done.') })
    await made.runner.start()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    expect(onlySession(made)).toMatchObject({ prefixHash: null, status: 'succeeded' })
    const [request] = forkRequests(made)
    expect(request?.system).toMatch(/^You are an agent that carries out one directive/)
    expect(made.told('prefix-broken')).toEqual([])
  })

  it('is nothing either where it has a prompt, which the fork then has as well', async () => {
    const made = team({ agent: { messages: [], system: 'Be brief.', tools: [search] }, runner: { tools: [search] } })
    await made.runner.start()
    await made.runner.subagents(made.lead).fork('Look')
    await made.runner.idle()
    const [request] = forkRequests(made)
    expect(onlySession(made).prefixHash).toBeNull()
    expect(request?.system).toBe('Be brief.')
    expect(request?.tools.map(({ name }) => name)).toContain('search')
  })

  it('is no prompt at all where the parent has asked its model without one', async () => {
    const made = team({ lead: parentAndFork(stepwise(calls(forkCall('one')))) })
    await made.run()
    expect(forkRequests(made).map(({ system }) => system)).toEqual([''])
  })

  it.for([false, undefined] as const)(
    'is whole for an agent whose list of tools is empty (registry: %s)',
    async (registry) => {
      const options = registry === undefined ? {} : { registry }
      const made = team({ ...options, agent: { tools: [] }, lead: parentAndFork(() => 'Done.') })
      await made.run()
      await made.runner.subagents(made.lead).fork('Look')
      await made.runner.idle()
      expect(onlySession(made).prefixHash).toMatch(/^[0-9a-f]{64}$/)
      expect(made.told('prefix-broken')).toEqual([])
    },
  )

  it('does not hold the fork to the form of its parent’s answers', async () => {
    const answers = parentAndFork(stepwise(calls(forkCall('one')), '{"sum":1}'))
    const made = team({ lead: answers, agent: { output: z.object({ sum: z.number() }) } })
    await made.run()
    const [request] = forkRequests(made)
    expect(request).toBeDefined()
    expect(request?.outputSchema).toBeUndefined()
    expect(made.told('output-rejected').filter((event) => 'path' in event)).toEqual([])
    expect(onlySession(made)).toMatchObject({ status: 'succeeded', inlineContent: 'Scope: all of it' })
  })
})

/** A lead whose forks wait behind a session that takes its time. */
function waitingForks(options: TeamOptions = {}): Team {
  return forkingTwice({
    lead: parentAndFork(stepwise(calls(delegate('busy', { background: true })), looking)),
    worker: async (_, { sleep }) => {
      await sleep(1_000)
      return 'Done.'
    },
    ...options,
    runner: { tools: [search], sessionPool: new SessionPool({ cap: 1 }), ...options.runner },
  })
}

describe('a fork that waits for a slot', () => {
  it('begins with the history from the launch, whatever its parent has made of its own since', async () => {
    const made = waitingForks()
    await made.runner.start()
    await made.next('turn-ended')
    const before = lines(parentRequests(made)[1] as ModelRequest)
    const short = [user('What was said, in short.'), assistant('Done.')]
    await made.runner.change((world) => {
      world.rewrite(made.lead, Conversation, short)
      world.set(made.lead, SystemPrompt, { template: 'Be brief.' })
      world.patch(made.lead, Llm, { temperature: 1 })
    })
    await made.runner.idle()
    const [fork] = forkRequests(made)
    expect(made.sessions()[1]?.startedAtMs).toBe(1_000)
    expect(lines(fork as ModelRequest).slice(0, before.length)).toEqual(before)
    expect(fork?.system).toContain('Rhyme.')
    expect(fork?.options.temperature).toBe(0.5)
    expect(made.told('prefix-broken').filter((event) => 'path' in event)).toEqual([])
  })

  it('shares one capture with the other forks of its message, and that the messages of its parent', async () => {
    const three = calls(forkCall('one'), forkCall('two', 'B'), forkCall('three', 'C'))
    const made = waitingForks({
      lead: parentAndFork(stepwise(calls(delegate('busy', { background: true })), three)),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.runner.start()
    await made.next('turn-ended')
    const { world } = made
    const captures = world.query(Blueprint)
    expect(captures.filter((capture) => world.has(capture, SharedHistory))).toHaveLength(1)
    const [capture] = world.query(Blueprint, SharedHistory)
    const parents = world.read(made.lead, Conversation).slice(0, 4)
    const kept = world.read(capture as number, SharedHistory)
    await made.runner.idle()
    const requests = forkRequests(made)
    expect(requests).toHaveLength(3)
    for (const [index, message] of parents.entries()) {
      expect(kept[index]).toBe(message)
      for (const request of requests) expect(request.messages.at(index)).toBe(message)
    }
    expect(world.query(Blueprint)).toEqual([])
  })

  it.for<[what: string, settings: ScriptedOptions['settings'], broken: readonly string[]]>([
    ['as it was', { beta: 'wide' }, []],
    ['with other settings', { beta: 'narrow' }, ['Llm']],
    ['with no settings', undefined, ['Llm']],
  ])('is told when its model, %s, is asked on another Host', async ([, settings, broken]) => {
    const store = memoryStore()
    const pool = { sessionPool: new SessionPool({ cap: 1 }) }
    const made = waitingForks({
      leadOptions: { settings: { beta: 'wide' } },
      runner: { ...pool, tools: [search], store },
    })
    await made.runner.start()
    await made.next('turn-ended')
    const [, queued] = made.sessions()
    expect(queued?.status).toBe('queued')
    await made.runner.stop()
    const lead = provider(
      'lead',
      parentAndFork(() => 'Done.'),
      { settings },
    )
    const models = { ...made.options.models, lead }
    const next = await reopened(store, { ...made.options, sessionPool: new SessionPool({ cap: 1 }), models })
    await next.runner.start()
    await next.runner.idle()
    const [, left, right] = sessionsOf(next.world, made.lead)
    expect(left).toMatchObject({ sessionId: queued?.sessionId, status: 'succeeded', prefixHash: queued?.prefixHash })
    const told = next.told('prefix-broken')
    for (const session of [left, right]) {
      const own = told.filter((event) => 'path' in event && String(event.path) === session?.sessionId)
      expect(own.map(({ component }) => component)).toEqual(broken)
    }
  })

  it('is told when its history is not what it was', async () => {
    const store = memoryStore()
    const made = waitingForks({ runner: { sessionPool: new SessionPool({ cap: 1 }), tools: [search], store } })
    await made.runner.start()
    await made.next('turn-ended')
    await made.runner.change((world) => {
      const [capture] = world.query(Blueprint, SharedHistory)
      const other: Message = user('Stay')
      world.splice(capture as number, SharedHistory, 0, 1, [other])
    })
    await made.runner.idle()
    const told = made.told('prefix-broken').filter((event) => 'path' in event)
    expect(told.map(({ component }) => component)).toEqual(['Conversation', 'Conversation'])
    expect(
      made
        .sessions()
        .slice(1)
        .map(({ status }) => status),
    ).toEqual(['succeeded', 'succeeded'])
  })
})
