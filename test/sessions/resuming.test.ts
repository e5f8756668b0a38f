import {
  Conversation,
  defineTool,
  DelegationLimits,
  fail,
  memoryStore,
  SessionPool,
  type SkillDefinition,
  sqliteStore,
  type Store,
  type SubagentConfig,
} from 'entia'
import { rm } from 'node:fs/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { rejection, reopened, turns } from '../engine/driving.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { byTask, hang } from './pace.ts'
import { delegatedBy, look, program, type Program, storedSession } from './program.ts'
import { once } from './sleepy-team.ts'
import {
  answerIn,
  type Behaviour,
  call,
  calls,
  delegate,
  launchedBy,
  sessionsOf,
  stepwise,
  type TeamOptions,
} from './team.ts'

/** How a session ended, and how to bring that about. */
type Ending = 'failed by its model' | 'failed by its step limit' | 'timed out' | 'cancelled'
const endings: readonly Ending[] = ['failed by its model', 'failed by its step limit', 'timed out', 'cancelled']
const statuses = {
  'failed by its model': 'failed',
  'failed by its step limit': 'failed',
  'timed out': 'timed_out',
  cancelled: 'cancelled',
} as const

interface Broken extends Program {
  /** Runs of the tool so far. */
  readonly looks: () => number
}

/** Asks its tool twice, and meets its end in its third step, or, once that has been, answers. */
function worker(ending: Ending, hasEnded: () => boolean): Behaviour {
  const again = calls(call('look', 'look'))
  return stepwise(
    again,
    again,
    async (request, context) => {
      if (hasEnded()) return 'All seen.'
      switch (ending) {
        case 'failed by its model':
          return fail('refused', { message: 'boom' })
        case 'failed by its step limit':
          return again
        case 'timed out':
          await context.sleep(10_000)
          return 'Too late.'
        case 'cancelled':
          return hang(request, context)
      }
    },
    'All seen.',
  )
}

/** A team whose one session has just ended so. */
async function broken(ending: Ending, store?: Store): Promise<Broken> {
  let looks = 0
  let hasEnded = false
  const counted = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({}),
    restart: 'pure',
    run: () => `look ${++looks}`,
  })
  const config: Partial<SubagentConfig> = { tools: ['look'], ...(ending.includes('step') && { maxSteps: 3 }) }
  const made = await program({
    subagents: { researcher: config },
    worker: worker(ending, () => hasEnded),
    runner: { tools: [counted], ...(store !== undefined && { store }) },
  })
  const timeoutMs = ending === 'timed out' ? 1_000 : undefined
  await made.subagents.spawn({ category: 'researcher', prompt: 'Look around', timeoutMs })
  if (ending === 'cancelled') {
    await once(made, () => made.asked('worker').length === 3)
    await made.subagents.cancel(1)
  }
  await made.runner.idle()
  hasEnded = true
  expect(made.sessions()[0]?.status).toBe(statuses[ending])
  return { ...made, looks: () => looks }
}

const stores: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memoryStore', () => Promise.resolve(memoryStore())],
  [
    'sqliteStore',
    async () => {
      const store = sqliteStore({ folder: await tempFolder(), synchronous: 'normal' })
      onTestFinished(() => store.close())
      return store
    },
  ],
]

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
        worker: (request, context) => (isStuck ? hang(request, context) : calls(call('look', 'look'))),
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
      worker: stepwise(calls(call('look', 'look')), (request, context) => (isStuck ? hang(request, context) : 'Seen.')),
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
      ['failed', 1],
      ['failed', 0],
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

describe('the sessions of a session that is resumed', () => {
  /** A session that may launch two of its own, has launched one, and fails behind that until it is mended. */
  async function failedBehindOne() {
    let isBroken = true
    const store = memoryStore()
    const made = await program({
      parts: [DelegationLimits({ sessions: 20 })],
      subagents: {
        researcher: { inheritancePolicy: { inheritTools: ['subagent'] }, limits: { sessions: 1 } },
        leaf: {},
      },
      worker: byTask({
        top: (request, context) => {
          const dig = (id: string) => calls(delegate(id, { category: 'leaf', prompt: id }))
          return stepwise(dig('first'), isBroken ? fail('refused') : dig('second'), 'Both.')(request, context)
        },
      }),
      workerOptions: { usage: { input: 5 } },
      runner: { store },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'top' })
    await made.runner.idle()
    expect(made.sessions()[0]?.status).toBe('failed')
    isBroken = false
    return { made, store }
  }

  it('are counted once above, and its grant is for new ones', async () => {
    const { made } = await failedBehindOne()
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 1, spentSessions: 1, spentTokens: 10 })
    const { sessionId } = await made.subagents.resume(1)
    await expect(made.subagents.collect(sessionId)).resolves.toBe('Both.')
    expect(made.sessions()[1]?.usage).toMatchObject({ calls: 2, input: 10, delegatedTokens: 5, sessions: 1 })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({
      launched: 2,
      spentSessions: 2,
      spentTokens: 25,
      reservedSessions: 0,
    })
  })

  it('go on in their count', async () => {
    const { made, store } = await failedBehindOne()
    const { sessionId } = await made.subagents.resume(1)
    await made.runner.idle()
    await made.runner.stop()
    const { world, agent } = await storedSession(store, sessionId)
    expect(sessionsOf(world, agent).map(({ sequence, prompt }) => [sequence, prompt])).toEqual([
      [1, 'first'],
      [2, 'second'],
    ])
  })
})

describe('a model that asks for a session to be resumed', () => {
  /** Delegates, and then asks for that to be resumed. */
  function asking(worker: Behaviour, background: boolean, named?: string): TeamOptions {
    return {
      agent: { messages: 'Go' },
      worker,
      lead: stepwise(calls(delegate('a', { background })), ({ messages }) => {
        const id = named ?? (background ? launchedBy(messages, 'a') : '1')
        return calls(call('resume', 'subagent_resume', { session_id: id }))
      }),
    }
  }

  it.each([
    ['from where it was', memoryStore(), true],
    ['from the start', undefined, false],
  ])('is told of the new one, which goes on %s', async (_, store, continued) => {
    const made = await program({
      ...asking(() => fail('refused'), false),
      runner: store === undefined ? {} : { store },
    })
    await made.runner.idle()
    const [old, session] = made.sessions()
    expect(answerIn(made.world.read(made.lead, Conversation), 'resume')).toEqual({
      status: 'success',
      original_session_id: old?.sessionId,
      session_id: session?.sessionId,
      category: 'researcher',
      lifecycle_status: 'queued',
      continued,
    })
    expect(session?.sessionId).not.toBe(old?.sessionId)
  })

  it.each([
    ['running', hang],
    ['succeeded', () => 'Fine.'],
  ] as const)('that is %s is told that it cannot be', async (status, behaviour) => {
    const made = await program(asking(behaviour, status === 'running'))
    await once(made, () => 'resume' in made.results())
    const id = made.sessions()[0]?.sessionId
    expect(answerIn(made.world.read(made.lead, Conversation), 'resume')).toMatchObject({
      status: 'error',
      error: `Session ${id} is not in a resumable state: ${status}. Only failed, timed_out, or cancelled sessions can be resumed.`,
    })
    expect(made.sessions()).toHaveLength(1)
    await made.runner.stop()
  })

  it('that is nowhere is told so', async () => {
    const made = await program(asking(() => 'Fine.', false, 'session-0000000000000000'))
    await made.runner.idle()
    expect(answerIn(made.world.read(made.lead, Conversation), 'resume')).toMatchObject({
      status: 'error',
      error: 'Session not found: session-0000000000000000',
    })
  })
})

describe('a program that resumes a session', () => {
  it('which is queued or running or has succeeded is refused, and nothing has changed', async () => {
    const sessionPool = new SessionPool({ cap: 1 })
    const made = await program({ worker: byTask({ b: hang }), runner: { sessionPool } })
    for (const prompt of ['a', 'b', 'c']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions()[1]?.status === 'running')
    for (const [index, status] of ['succeeded', 'running', 'queued'].entries()) {
      const id = made.sessions()[index]?.sessionId
      await expect(rejection(made.subagents.resume(index + 1))).resolves.toMatchObject({
        message: `Session ${id} is not in a resumable state: ${status}. Only failed, timed_out, or cancelled sessions can be resumed.`,
      })
    }
    expect(made.sessions()).toHaveLength(3)
    await made.runner.stop()
  })
})
