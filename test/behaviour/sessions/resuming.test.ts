import {
  type Entity,
  fail,
  memoryStore,
  Permissions,
  SessionPool,
  type SkillDefinition,
  type Store,
  SubagentRegistry,
  type World,
} from 'entia'
import { Blueprint, ToolRegistry } from 'entia/components'
import { spawnSubagentDeclaration } from 'entia/systems'
import { rm } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { gate, reopened, turns } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'
import { tempFolder } from '../../tools/temp-folder.ts'
import { broken, endings } from './broken-session.ts'
import { stores } from './kinds-of-stores.ts'
import { look, program, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { call, calls, delegate, resultsIn, stepwise, taskOf, type TeamOptions } from './team.ts'

describe.each(stores)('a session that is resumed with a %s', (_, storeOf) => {
  it.each(endings)('goes on where it was when it was %s, and pays for no step again', async (ending) => {
    const made = await broken(ending, await storeOf())
    const [last] = made.asked('worker').slice(-1)
    const before = structuredClone(made.sessions()[0])
    const { sessionId, continued } = await made.subagents.resume(1)
    expect(continued).toBe(true)
    expect(sessionId).not.toBe(before?.sessionId)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('All seen.')
    expect(made.asked('worker')).toHaveLength(4)
    expect(made.looks()).toBe(ending.includes('step') ? 3 : 2)
    const [, ...asked] = made.asked('worker').slice(2)
    const history = [...(last?.request.messages ?? [])]
    expect([...(asked[0]?.request.messages ?? [])].slice(0, history.length)).toEqual(history)
    expect(made.sessions()[0]).toEqual(before)
    expect(made.sessions()[1]).toMatchObject({
      sessionId,
      sequence: 2,
      resumedFrom: before?.sessionId,
      mode: 'background',
      status: 'succeeded',
      prompt: 'Look around',
      usage: { calls: 1 },
    })
  })

  it('goes on in another process', async () => {
    const store = await storeOf()
    const made = await broken('failed by its model', store)
    await made.runner.stop()
    const later = await reopened(store, { ...made.options, sessionPool: new SessionPool() })
    await later.runner.start()
    const subagents = later.runner.subagents(made.lead)
    const { sessionId } = await subagents.resume(1)
    await expect(subagents.collect(sessionId)).resolves.toBe('All seen.')
    expect(made.asked('worker')).toHaveLength(4)
  })
})

describe('a session that is resumed without a store', () => {
  it.each(endings)('starts over after it was %s', async (ending) => {
    const made = await broken(ending)
    const before = structuredClone(made.sessions()[0])
    const { sessionId, continued } = await made.subagents.resume(1)
    expect(continued).toBe(false)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('All seen.')
    expect(made.asked('worker')).toHaveLength(6)
    expect(made.asked('worker')[3]?.request.messages).toHaveLength(1)
    expect(made.sessions()[0]).toEqual(before)
    expect(made.sessions()[1]).toMatchObject({ resumedFrom: before?.sessionId, usage: { calls: 3 } })
  })

  it('starts over with its whole task, however long that is', async () => {
    const prompt = 'Look at everything. '.repeat(2_000)
    const made = await program({ worker: () => fail('refused') })
    await made.subagents.spawn({ category: 'researcher', prompt })
    await made.runner.idle()
    await made.subagents.resume(1)
    await made.runner.idle()
    const tasks = made.asked('worker').map(({ request }) => request.messages.at(0))
    expect(tasks[1]).toEqual(tasks[0])
    expect(tasks[1]).toEqual({ role: 'user', content: [{ type: 'text', text: prompt }] })
  })
})

describe('a session that goes on with another one', () => {
  it('has its category, prompt, skills and timeout, and whatever its own launch was, is in the background', async () => {
    const skill: SkillDefinition = { name: 'maps', prompt: 'You read maps.' }
    const made = await program({
      agent: { messages: 'Go' },
      lead: stepwise(calls(delegate('a', { prompt: 'Find it', load_skills: ['maps'], timeout: 5 }))),
      worker: () => fail('refused'),
      runner: { skills: [skill] },
    })
    await made.runner.idle()
    await made.subagents.resume(1)
    await made.runner.idle()
    expect(made.sessions().map(({ mode }) => mode)).toEqual(['sync', 'background'])
    expect(made.sessions()[1]).toMatchObject({
      category: 'researcher',
      kind: 'named',
      prompt: 'Find it',
      loadSkills: ['maps'],
      timeoutMs: 5_000,
    })
    expect(made.asked('worker')[1]?.request.system).toContain('You read maps.')
  })

  it('has its clock counted anew, from its own admission', async () => {
    const made = await broken('timed out', memoryStore())
    const { sessionId } = await made.subagents.resume(1)
    await made.runner.idle()
    const [old, session] = made.sessions()
    expect(session).toMatchObject({ sessionId, status: 'succeeded', startedAtMs: old?.finishedAtMs })
    expect(session?.deadlineMs).toBe((old?.finishedAtMs ?? 0) + 1_000)
  })

  it.each([1, 2])(
    'may make %s model calls if its config says so, the one that was stopped among them',
    async (maxSteps) => {
      let isStuck = true
      const made = await program({
        subagents: { researcher: { tools: ['look'], maxSteps } },
        worker: (request, context) => (isStuck ? stuck(request, context) : calls(call('look', 'look'))),
        runner: { tools: [look], store: memoryStore() },
      })
      await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
      await once(made, () => made.asked('worker').length === 1)
      await made.subagents.cancel(1)
      isStuck = false
      await made.subagents.resume(1)
      await made.runner.idle()
      expect(made.sessions()[1]).toMatchObject({ status: 'failed', error: `Step limit reached (${maxSteps})` })
      expect(made.asked('worker')).toHaveLength(1 + maxSteps)
    },
  )

  it('goes on where it was although it was cancelled just before', async () => {
    let isStuck = true
    const made = await program({
      subagents: { researcher: { tools: ['look'] } },
      worker: stepwise(calls(call('look', 'look')), (request, context) =>
        isStuck ? stuck(request, context) : 'Seen.',
      ),
      runner: { tools: [look], store: memoryStore() },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await once(made, () => made.asked('worker').length === 2)
    isStuck = false
    await Promise.all([made.subagents.cancel(1), turns(0).then(() => made.subagents.resume(1))])
    await expect(made.subagents.collect(2)).resolves.toBe('Seen.')
    expect(made.asked('worker')).toHaveLength(3)
    expect(made.sessions()[1]?.usage?.calls).toBe(1)
  })

  it('is told to answer as sessions in the background do, though the first was not', async () => {
    const made = await program({
      agent: { messages: 'Go' },
      lead: stepwise(calls(delegate('a'))),
      worker: () => fail('refused'),
      runner: { store: memoryStore() },
    })
    await made.runner.idle()
    await made.subagents.resume(1)
    await made.runner.idle()
    const [first, second] = made.asked('worker').map(({ request }) => request.system)
    expect(first).not.toContain('<subagent_background_result>')
    expect(second).toContain('<subagent_background_result>')
  })

  it('starts over where it never ran', async () => {
    const made = await program({ runner: { store: memoryStore(), sessionPool: new SessionPool({ cap: 1 }) } })
    for (const prompt of ['a', 'b']) await made.subagents.spawn({ category: 'researcher', prompt })
    await made.subagents.cancel(2)
    const { continued, sessionId } = await made.subagents.resume(2)
    expect(continued).toBe(false)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('Done: b')
  })

  it('starts over where its World is gone from the store', async () => {
    const store = memoryStore()
    const made = await broken('failed by its model', store)
    await store.delete(made.sessions()[0]?.sessionId ?? '')
    const { sessionId } = await made.subagents.resume(1)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('All seen.')
    expect(made.asked('worker')).toHaveLength(6)
  })

  it('is resumed in turn, from where it was', async () => {
    let isBroken = true
    const made = await program({
      subagents: { researcher: { tools: ['look'] } },
      worker: (request, context) =>
        stepwise(calls(call('look', 'look')), isBroken ? fail('refused') : 'Seen.')(request, context),
      runner: {
        store: memoryStore(),
        tools: [look],
      },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    await made.subagents.resume(1)
    await made.runner.idle()
    isBroken = false
    const { sessionId, continued } = await made.subagents.resume(2)
    expect(continued).toBe(true)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('Seen.')
    expect(made.sessions().map(({ status, usage }) => [status, usage?.calls])).toEqual([
      ['failed', 2],
      ['failed', 1],
      ['succeeded', 1],
    ])
  })

  it('asks no model where only its result had not been kept', async () => {
    const folder = await tempFolder({ records: 'a file where a folder has to be' })
    const artifacts = `${folder}/records`
    const made = await program({ runner: { store: memoryStore(), artifacts } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    expect(made.sessions()[0]?.error).toMatch(/^Result could not be stored: ./)
    await rm(artifacts)
    const { sessionId } = await made.subagents.resume(1)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('Done: Look')
    expect(made.asked('worker')).toHaveLength(1)
  })
})

describe.each<[string, () => Store | undefined]>([
  ['with a store', () => memoryStore()],
  ['without one', () => undefined],
])('a worker of spawn_subagent that is resumed %s', (_, storeOf) => {
  /** A worker that failed at first, granted a tool that needs a person and one that does not; `later` comes before it is resumed. */
  async function resumedWorker(later: (world: World, lead: Entity) => void, registry: TeamOptions['registry'] = {}) {
    const ran: string[] = []
    const tools = ['plain', 'careful'].map((name) =>
      tool(name, () => void ran.push(name), { approval: name === 'careful' }),
    )
    let isBroken = true
    const store = storeOf()
    const asksFor = calls(call('w', 'spawn_subagent', { task: 'Do it', tools: ['plain', 'careful'] }))
    const made = await program({
      subagents: { worker: { systemPrompt: 'Another worker.', tools: ['plain'] } },
      registry,
      agent: { messages: 'Go' },
      parts: [ToolRegistry({ tools: [...tools.map(({ declaration }) => declaration), spawnSubagentDeclaration] })],
      lead: (request, context) => {
        if (taskOf(request) !== 'Do it') return stepwise(asksFor)(request, context)
        if (isBroken) return fail('refused')
        const results = stepwise(calls(call('a', 'plain'), call('b', 'careful')), ({ messages }) => {
          return JSON.stringify(resultsIn(messages))
        })
        return results(request, context)
      },
      runner: { tools, approve: () => ran.push('asked') > 0, ...(store !== undefined && { store }) },
    })
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([{ category: 'worker', kind: 'free', status: 'failed' }])
    isBroken = false
    await made.runner.change((world) => later(world, made.lead))
    await made.subagents.resume(1)
    await made.runner.idle()
    const requests = made.asked('lead').map(({ request }) => request)
    return { ...made, ran, requests: requests.filter((request) => taskOf(request) === 'Do it') }
  }

  it.each<[string, (world: World, lead: Entity) => void]>([
    ['nothing has changed', () => undefined],
    ['its parent has lost the tools', (world, lead) => world.set(lead, ToolRegistry, { tools: [] })],
    ['its parent has no registry any more', (world, lead) => world.remove(lead, SubagentRegistry)],
  ])('is what it was, with its tools and nobody to ask, where %s', async (_what, later) => {
    const { sessions, ran, requests } = await resumedWorker(later)
    expect(sessions()[1]).toMatchObject({ category: 'worker', kind: 'free', status: 'succeeded', prompt: 'Do it' })
    expect(JSON.parse(sessions()[1]?.resultExcerpt ?? '')).toEqual({
      a: '[no output]',
      b: expect.stringContaining('needs an approval, and nobody can give one here'),
    })
    expect(ran).toEqual(['plain'])
    const [first, last] = [requests[0], requests.at(-1)]
    expect(last?.system).toBe(first?.system)
    expect(last?.tools).toEqual(first?.tools)
  })

  it('is denied what is denied by then', async () => {
    const { sessions, ran } = await resumedWorker((world, lead) => world.set(lead, Permissions, { denied: ['plain'] }))
    expect(sessions()[1]?.resultExcerpt).toContain("tool 'plain' is not permitted")
    expect(ran).toEqual([])
  })
})

it('a worker that has succeeded leaves nothing that it was made from', async () => {
  const made = await program({
    agent: { messages: 'Go' },
    parts: [ToolRegistry({ tools: [spawnSubagentDeclaration] })],
    lead: (request, context) => {
      return taskOf(request) === 'Do it'
        ? 'Done.'
        : stepwise(calls(call('w', 'spawn_subagent', { task: 'Do it' })))(request, context)
    },
  })
  await made.runner.idle()
  expect(made.sessions()).toMatchObject([{ status: 'succeeded' }])
  expect(made.world.query(Blueprint)).toEqual([])
})

describe('a keyed call that was under way when its session was cancelled', () => {
  it('runs again under the same key, as often as the session is resumed, and its handler knows', async () => {
    const runs: string[] = []
    let begun = gate()
    const write = tool(
      'write',
      ({ attempt, key }) => {
        runs.push(`${attempt} ${key}`)
        begun.resolve()
        return runs.length < 3 ? gate<never>().promise : 'written'
      },
      { restart: 'keyed' },
    )
    const made = await program({
      subagents: { researcher: { tools: ['write'] } },
      worker: stepwise(calls(call('w', 'write')), ({ messages }) => resultsIn(messages)['w'] ?? ''),
      runner: { tools: [write], store: memoryStore() },
    })
    const { sessionId } = await made.subagents.spawn({ category: 'researcher', prompt: 'Write' })
    for (const session of [1, 2]) {
      await begun.promise
      await made.subagents.cancel(session)
      await made.runner.idle()
      begun = gate()
      await made.subagents.resume(session)
    }
    await expect(made.subagents.collect(3)).resolves.toBe('written')
    const [, key] = runs[0]?.split(' ') ?? []
    expect(key).toContain(sessionId)
    expect(runs).toEqual([`1 ${key}`, `2 ${key}`, `3 ${key}`])
  })
})
