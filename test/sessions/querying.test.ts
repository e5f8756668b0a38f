import {
  DelegationLimits,
  fail,
  memoryStore,
  type ModelRequest,
  querySubagentDeclaration,
  SessionPool,
  sqliteStore,
  standardSystems,
  type Store,
  textOf,
  ToolRegistry,
  World,
} from 'entia'
import * as components from 'entia/components'
import { describe, expect, it, onTestFinished } from 'vitest'
import { driven, rejection, reopened, turns } from '../engine/driving.ts'
import { mortalStore } from '../engine/watched-store.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { after, byTask, hang } from './pace.ts'
import { delegatedBy, look, program, type Program } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, resultsIn, stepwise, type TeamOptions } from './team.ts'

/** What a model was last told by its user. */
function lastAsked({ messages }: ModelRequest): string {
  return textOf([...messages].findLast(({ role }) => role === 'user'))
}

/** Answers every question with itself. */
const echo: Behaviour = (request) => `Re: ${lastAsked(request)}`

/** Answers its task at once, and does this with every question that comes after it. */
function thenAsked(behaviour: Behaviour): Behaviour {
  return (request, context) =>
    [...request.messages].some(({ role }) => role === 'assistant') ? behaviour(request, context) : 'First.'
}

/** A program whose one session has succeeded. */
async function succeeded(options: TeamOptions = {}): Promise<Program> {
  const made = await program({ worker: echo, ...options })
  await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
  await once(made, () => made.sessions()[0]?.status === 'succeeded')
  return made
}

/** Texts of all that a model was asked with. */
function texts(made: Program, call: number): string[] {
  return [...(made.asked('worker')[call]?.request.messages ?? [])].map((message) => textOf(message))
}

describe('a session that has succeeded', () => {
  it('answers further questions with all in mind that was said before, and stays as it was', async () => {
    const made = await succeeded()
    const before = structuredClone(made.sessions()[0])
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    await expect(made.subagents.query(1, 'And how?')).resolves.toBe('Re: And how?')
    expect(texts(made, 2)).toEqual(['Look', 'Re: Look', 'Why?', 'Re: Why?', 'And how?'])
    expect(made.asked('worker')).toHaveLength(3)
    expect(made.sessions()).toEqual([before])
    expect(before?.status).toBe('succeeded')
  })

  it('replies without envelope', async () => {
    const envelope = (text: string) =>
      `<subagent_background_result><summary>s</summary><full_result>${text}</full_result></subagent_background_result>`
    const made = await succeeded({ worker: (request) => envelope(`Re: ${lastAsked(request)}`) })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
  })

  it('has its steps counted anew for each question', async () => {
    const made = await succeeded({
      subagents: { researcher: { tools: ['look'], maxSteps: 2 } },
      worker: ({ messages }) =>
        [...messages].at(-1)?.role === 'tool' ? 'Seen.' : calls(call(`look${messages.length}`, 'look')),
      runner: { tools: [look] },
    })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Seen.')
    await expect(made.subagents.query(1, 'How?')).resolves.toBe('Seen.')
    expect(made.asked('worker')).toHaveLength(6)
  })

  it('takes no slot for its answer', async () => {
    const made = await succeeded({
      worker: byTask({ Look: echo, busy: hang }),
      runner: { sessionPool: new SessionPool({ cap: 1 }) },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'busy' })
    await once(made, () => made.sessions()[1]?.status === 'running')
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    await made.runner.stop()
  })

  it('may delegate for its answer', async () => {
    const made = await succeeded({
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: byTask({
        Look: thenAsked(({ messages }) => resultsIn(messages)['a'] ?? calls(delegate('a', { prompt: 'dig' }))),
        dig: () => 'Dug.',
      }),
    })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Dug.')
  })

  it('answers at the cost of who asks, though its own grant is spent', async () => {
    const made = await succeeded({
      parts: [DelegationLimits({ tokens: 100 })],
      subagents: { researcher: { limits: { tokens: 5 } } },
      workerOptions: { usage: { input: 5 } },
    })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 5 })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 10 })
  })

  it('that fails at a question tells so, and answers the next one', async () => {
    const made = await succeeded({
      worker: (request) =>
        lastAsked(request) === 'Why?' ? fail('refused', { message: 'boom' }) : `Re: ${lastAsked(request)}`,
    })
    await expect(rejection(made.subagents.query(1, 'Why?'))).resolves.toMatchObject({
      code: 'session-failed',
      message: 'boom',
    })
    expect(made.sessions()[0]?.status).toBe('succeeded')
    await expect(made.subagents.query(1, 'How?')).resolves.toBe('Re: How?')
  })

  it('is meant by its id in the World of who asks, whatever goes by that id in another one', async () => {
    const sessionPool = new SessionPool()
    const [one, two] = [
      await succeeded({ worker: thenAsked(after(50, 'One.')), runner: { sessionPool } }),
      await succeeded({ worker: thenAsked(after(50, 'Two.')), runner: { sessionPool } }),
    ]
    expect(one.sessions()[0]?.sessionId).toBe(two.sessions()[0]?.sessionId)
    const replies = Promise.all([one.subagents.query(1, 'Who?'), two.subagents.query(1, 'Who?')])
    await expect(replies).resolves.toEqual(['One.', 'Two.'])
  })
})

describe('a question', () => {
  const long = 'Look at all of it, from the very beginning to the very end, and then at the rest.'
  const shown = long.slice(0, 60)

  it('to a session that has not ended is refused with the beginning of its task', async () => {
    const sessionPool = new SessionPool({ cap: 1 })
    const made = await program({ worker: hang, runner: { sessionPool } })
    for (const prompt of [long, 'queued']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions()[0]?.status === 'running')
    const refused = await rejection(made.subagents.query(1, 'Why?'))
    expect(refused).toMatchObject({ code: 'session-busy' })
    expect((refused as Error).message).toMatch(new RegExp(`busy with: ${shown}$`))
    await expect(rejection(made.subagents.query(2, 'Why?'))).resolves.toMatchObject({ code: 'session-busy' })
    await made.runner.stop()
  })

  it('is refused while another one is under way, with the beginning of that', async () => {
    const made = await succeeded({ worker: thenAsked(hang) })
    const first = rejection(made.subagents.query(1, long))
    const second = await rejection(made.subagents.query(1, 'Why?'))
    expect(second).toMatchObject({ code: 'session-busy' })
    expect((second as Error).message).toMatch(new RegExp(`busy with: ${shown}$`))
    await once(made, () => made.asked('worker').length === 2)
    await expect(rejection(made.subagents.query(1, 'Why?', { wait: false }))).resolves.toMatchObject({
      code: 'session-busy',
    })
    await made.runner.stop()
    await expect(first).resolves.toMatchObject({ code: 'world-driven' })
  })

  it('that is not waited for gives the full id, and its reply is collected later', async () => {
    const made = await succeeded({ worker: thenAsked(after(100, 'Because.')) })
    await expect(made.subagents.query(1, 'Why?', { wait: false })).resolves.toBe(made.sessions()[0]?.sessionId)
    await expect(made.subagents.collect(1)).resolves.toBe('First.')
    await expect(made.subagents.collect(1, { wait: false })).resolves.toBeUndefined()
    await expect(made.subagents.collect(1)).resolves.toBe('Because.')
    await expect(rejection(made.subagents.collect(1))).resolves.toMatchObject({ code: 'nothing-pending' })
  })

  it('that is not to be waited for is refused until the last such is collected; one that is waited for is not', async () => {
    const made = await succeeded({ worker: thenAsked(echo) })
    await made.subagents.query(1, long, { wait: false })
    await made.runner.idle()
    const refused = await rejection(made.subagents.query(1, 'Why?', { wait: false }))
    expect(refused).toMatchObject({ code: 'session-busy' })
    expect((refused as Error).message).toMatch(new RegExp(`busy with: ${shown}$`))
    await expect(made.subagents.query(1, 'How?')).resolves.toBe('Re: How?')
    await expect(made.subagents.collect(1)).resolves.toBe('First.')
    await expect(made.subagents.collect(1)).resolves.toBe(`Re: ${long}`)
    await expect(made.subagents.query(1, 'Why?', { wait: false })).resolves.toBe(made.sessions()[0]?.sessionId)
  })

  it('gives nothing at its timeout and goes on; its reply is collected', async () => {
    const made = await succeeded({ worker: thenAsked(after(100, 'Because.')) })
    await made.subagents.collect(1)
    await expect(made.subagents.query(1, 'Why?', { timeoutMs: 50 })).resolves.toBeUndefined()
    expect(made.world.nowMs).toBeLessThan(100)
    await expect(rejection(made.subagents.query(1, 'How?'))).resolves.toMatchObject({ code: 'session-busy' })
    await expect(made.subagents.collect(1)).resolves.toBe('Because.')
  })

  it('waits a minute unless it is told otherwise', async () => {
    const made = await succeeded({ worker: thenAsked(after(61_000, 'Because.')) })
    await made.subagents.collect(1)
    await expect(made.subagents.query(1, 'Why?')).resolves.toBeUndefined()
    await expect(made.subagents.collect(1)).resolves.toBe('Because.')
  })

  it.each(['failed', 'timed_out', 'cancelled', 'closed'] as const)(
    'to a session that is %s is refused',
    async (how) => {
      const worker: Behaviour = async (request, { sleep }) => {
        if (how !== 'closed') await sleep(1_000)
        return how === 'failed' ? fail('refused') : echo(request, { sleep } as never)
      }
      const made = await program({ worker })
      const timeoutMs = how === 'timed_out' ? 500 : undefined
      await made.subagents.spawn({ category: 'researcher', prompt: 'Look', timeoutMs })
      if (how === 'cancelled') await made.subagents.cancel(1)
      await made.runner.idle()
      if (how === 'closed') await made.subagents.kill(1)
      expect(made.sessions()[0]?.status).toBe(how === 'closed' ? 'succeeded' : how)
      const calls = made.asked('worker').length
      await expect(rejection(made.subagents.query(1, 'Why?'))).resolves.toMatchObject({ code: 'not-queryable' })
      expect(made.asked('worker')).toHaveLength(calls)
    },
  )

  it('without a word in it, or with a time that is none, is refused', async () => {
    const made = await succeeded()
    for (const [prompt, timeoutMs] of [
      ['', 1],
      ['  ', 1],
      ['Why?', -1],
      ['Why?', NaN],
    ] as const) {
      const refused = rejection(made.subagents.query(1, prompt, { timeoutMs }))
      await expect(refused).resolves.toMatchObject({ code: 'invalid-argument' })
    }
    await expect(rejection(made.subagents.query(2, 'Why?'))).resolves.toMatchObject({ code: 'unknown-session' })
    expect(made.asked('worker')).toHaveLength(1)
  })
})

describe('questions of a model', () => {
  it('to one session are answered one after another, each with the one before it in mind', async () => {
    const ask = (id: string, prompt: string) => call(id, 'query_subagent', { id: '1', prompt })
    const made = await program({
      agent: { messages: 'Go' },
      parts: [ToolRegistry({ tools: [querySubagentDeclaration()] })],
      lead: stepwise(calls(delegate('a')), calls(ask('b', 'Why?'), ask('c', 'How?'))),
      worker: thenAsked(async (request, { sleep }) => {
        await sleep(100)
        return `Re: ${lastAsked(request)}`
      }),
    })
    await made.runner.idle()
    expect(made.results()).toEqual({ a: 'First.', b: 'Re: Why?', c: 'Re: How?' })
    expect(texts(made, 2)).toEqual(['Look', 'First.', 'Why?', 'Re: Why?', 'How?'])
    expect(made.world.nowMs).toBe(200)
  })
})

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

/** The program's world as a store has it, running elsewhere. */
async function again(store: Store, made: Program): Promise<Program> {
  const later = await reopened(store, { ...made.options, sessionPool: new SessionPool() })
  await later.runner.start()
  return { ...made, ...later, subagents: later.runner.subagents(made.lead) }
}

describe.each(stores)('over a restart with a %s', (_, storeOf) => {
  it('a session answers with all in mind that was said before', async () => {
    const store = await storeOf()
    const made = await succeeded({ runner: { store } })
    await made.subagents.query(1, 'Why?')
    await made.runner.stop()
    const later = await again(store, made)
    await expect(later.subagents.query(1, 'How?')).resolves.toBe('Re: How?')
    expect(texts(made, 2)).toEqual(['Look', 'Re: Look', 'Why?', 'Re: Why?', 'How?'])
    expect(later.subagents.list()).toMatchObject([{ status: 'succeeded' }])
  })

  it('a question that was under way stands in the session once, and its reply is collected', async () => {
    const kept = await storeOf()
    const { store, die } = mortalStore(kept)
    let isStuck = true
    const made = await succeeded({
      isMortal: true,
      worker: thenAsked((request, context) => (isStuck ? hang(request, context) : echo(request, context))),
      runner: { store },
    })
    await made.subagents.collect(1)
    void made.subagents.query(1, 'Why?')
    await once(made, () => made.asked('worker').length === 2)
    die()
    await turns()
    isStuck = false
    const later = await again(kept, made)
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Why?')
    expect(made.asked('worker')).toHaveLength(3)
    expect(texts(made, 2)).toEqual(['Look', 'First.', 'Why?'])
    const { messages } = (await later.subagents.transcript(1)) ?? { messages: [] }
    expect(messages.map((message) => textOf(message))).toEqual(['Look', 'First.', 'Why?', 'Re: Why?'])
  })

  it('a question that was answered, of which its parent had not heard, is not put to the model again', async () => {
    const kept = await storeOf()
    const { store, die } = mortalStore(kept)
    const made = await succeeded({ isMortal: true, worker: thenAsked(echo), runner: { store } })
    await made.subagents.collect(1)
    made.runner.on('session-settled', die)
    void made.subagents.query(1, 'Why?')
    await once(made, () => made.told('session-settled').length === 2)
    await turns()
    const later = await again(kept, made)
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Why?')
    expect(made.asked('worker')).toHaveLength(2)
  })

  it('a reply that was there is collected still', async () => {
    const store = await storeOf()
    const made = await succeeded({ runner: { store } })
    await made.subagents.query(1, 'Why?', { wait: false })
    await made.runner.idle()
    await made.runner.stop()
    const later = await again(store, made)
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Look')
    await expect(later.subagents.collect(1)).resolves.toBe('Re: Why?')
    expect(made.asked('worker')).toHaveLength(2)
  })
})

describe('over a restart without a store', () => {
  it('a session has nothing in mind any more, and says so', async () => {
    const made = await succeeded()
    await made.runner.idle()
    await made.runner.stop()
    const world = World.restore(made.world.snapshot(), { systems: standardSystems(), components })
    const later = driven(world, { ...made.options, sessionPool: new SessionPool() })
    await later.runner.start()
    const refused = rejection(later.runner.subagents(made.lead).query(1, 'Why?'))
    await expect(refused).resolves.toMatchObject({ code: 'session-failed' })
    expect(made.asked('worker')).toHaveLength(1)
  })
})
