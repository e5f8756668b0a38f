import { DelegationLimits, memoryStore, SessionPool, type Store, type SubagentConfig } from 'entia'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rejection, reopened, turns } from '../engine/driving.ts'
import { mortalStore } from '../engine/watched-store.ts'
import { after, byTask, hang } from './pace.ts'
import { delegatedBy, look, program, type Program, storedSession } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, resultsIn, stepwise, taskOf, team, type TeamOptions } from './team.ts'

/** A subagent that may delegate to its like. */
const nested: Partial<SubagentConfig> = { inheritancePolicy: { inheritTools: ['subagent'] } }
/** A subagent that may look. */
const looking: Partial<SubagentConfig> = { tools: ['look'] }
const dollarPerThousand = { 'worker/x': { input: 1_000, output: 1_000 } }

/** Looks again and again. */
const restless: Behaviour = () => calls(call('look', 'look'))

function limited(limits: Parameters<typeof DelegationLimits>[0], options: TeamOptions = {}): Promise<Program> {
  return program({ ...options, parts: [DelegationLimits(limits)] })
}

/** Launches so many sessions, and resolves when they run. */
async function running(made: Program, ...prompts: string[]): Promise<void> {
  for (const prompt of prompts) await made.subagents.spawn({ category: 'researcher', prompt })
  await once(made, () => made.sessions().every(({ status }) => status !== 'queued'))
}

function grants({ sessions }: Program) {
  return sessions().map(({ grant }) => grant)
}

describe('an agent that may delegate no further', () => {
  it.each([
    ['depth', { depth: 0 }],
    ['sessions', { sessions: 0 }],
    ['tokens', { tokens: 0 }],
    ['cost', { costUsd: 0 }],
  ])('for want of %s is told so by its tool, and no session exists', async (what, limits) => {
    const made = team({ parts: [DelegationLimits(limits)], lead: stepwise(calls(delegate('a'))) })
    await made.run()
    expect(made.results()['a']).toBe(`Error: Delegation limit reached: ${what}`)
    expect(made.sessions()).toEqual([])
    expect(made.told('session-queued')).toEqual([])
    expect(made.asked('lead')).toHaveLength(2)
  })

  it.each([
    ['depth', { depth: 0 }],
    ['sessions', { sessions: 0 }],
    ['tokens', { tokens: 0 }],
    ['cost', { costUsd: 0 }],
  ])('for want of %s refuses a program with limit-reached', async (what, limits) => {
    const made = await limited(limits)
    const refused = rejection(made.subagents.spawn({ category: 'researcher', prompt: 'Look' }))
    await expect(refused).resolves.toMatchObject({
      code: 'limit-reached',
      message: `Delegation limit reached: ${what}`,
    })
    expect(made.sessions()).toEqual([])
  })
})

describe('the depth of delegation', () => {
  /** Each delegates once, and says what became of it. */
  const passOn: Behaviour = ({ messages }) => {
    const results = Object.values(resultsIn(messages))
    return results.length === 0 ? calls(delegate('a')) : `below: ${results.join()}`
  }

  it('of one lets a session run that may launch none', async () => {
    const made = team({
      subagents: { researcher: nested },
      parts: [DelegationLimits({ depth: 1 })],
      lead: stepwise(calls(delegate('a'))),
      worker: passOn,
    })
    await made.run()
    expect(made.results()['a']).toBe('below: Error: Delegation limit reached: depth')
    expect(made.told('session-queued')).toHaveLength(1)
  })

  it('is three unless it is set, and gets less by one a level', async () => {
    const made = team({ subagents: { researcher: nested }, lead: stepwise(calls(delegate('a'))), worker: passOn })
    await made.run()
    expect(made.results()['a']).toBe('below: below: below: Error: Delegation limit reached: depth')
    expect(made.told('delegation-started').map(({ depth }) => depth)).toEqual([1, 2, 3])
  })
})

describe('the sessions that an agent may launch', () => {
  it('are 200 unless it is set', async () => {
    const made = await program()
    const prompts = Array.from({ length: 200 }, (_, index) => `${index}`)
    await Promise.all(prompts.map((prompt) => made.subagents.spawn({ category: 'researcher', prompt })))
    const refused = rejection(made.subagents.spawn({ category: 'researcher', prompt: 'one more' }))
    await expect(refused).resolves.toMatchObject({ code: 'limit-reached' })
    await made.runner.idle()
    expect(made.sessions()).toHaveLength(200)
  })

  it('are one less for each launch, however it ended, and for each resume', async () => {
    const made = await limited({ sessions: 2 }, { workerOptions: {}, worker: () => ({ text: '' }) })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    await made.subagents.resume(1)
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['failed', 'failed'])
    await expect(rejection(made.subagents.resume(1))).resolves.toMatchObject({
      code: 'limit-reached',
      message: 'Delegation limit reached: sessions',
    })
    expect(made.sessions()).toHaveLength(2)
  })

  it('are granted on by a quarter of what is left, rounded down, at admission and not before', async () => {
    const made = await limited(
      { sessions: 12 },
      { subagents: { researcher: nested }, worker: hang, runner: { sessionPool: new SessionPool({ cap: 2 }) } },
    )
    for (const prompt of ['a', 'b', 'c']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions().filter(({ status }) => status === 'running').length === 2)
    const [first, second, third] = made.sessions()
    expect(first?.grant?.sessions).toBe(2)
    expect(second?.grant?.sessions).toBe(1)
    expect(third).toMatchObject({ status: 'queued' })
    expect(third?.grant).toBeUndefined()
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 3, reservedSessions: 3 })
    await made.runner.stop()
  })

  it('are granted to none that cannot delegate', async () => {
    const made = await limited({ sessions: 100 }, { worker: hang })
    await running(made, 'a')
    expect(grants(made)).toEqual([{ sessions: 0 }])
    await made.runner.stop()
  })

  it('bound those of a session by its grant, and count above as well', async () => {
    const made = await limited(
      { sessions: 20 },
      {
        subagents: { researcher: { ...nested, limits: { sessions: 1 } } },
        worker: byTask({
          top: ({ messages }) => {
            const results = resultsIn(messages)
            if ('b' in results) return `${results['a']}, ${results['b']}`
            return calls(delegate('a', { prompt: 'leaf' }), delegate('b', { prompt: 'leaf' }))
          },
        }),
      },
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'top' })
    await expect(made.subagents.collect(1)).resolves.toContain('Error: Delegation limit reached: sessions')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 1, reservedSessions: 0, spentSessions: 1 })
  })
})

describe('the tokens and the money of sessions', () => {
  it('are granted by a quarter of what is left, one session after the other', async () => {
    const made = await limited({ tokens: 100, costUsd: 1 }, { worker: hang })
    await running(made, 'a', 'b', 'c')
    expect(grants(made)).toEqual([
      { sessions: 0, tokens: 25, costUsd: 0.25 },
      { sessions: 0, tokens: 18, costUsd: 0.1875 },
      { sessions: 0, tokens: 14, costUsd: 0.140625 },
    ])
    const reserved = { reservedTokens: 57, reservedCostNanoUsd: 578_125_000 }
    expect(delegatedBy(made.world, made.lead)).toMatchObject(reserved)
    await made.runner.stop()
  })

  it('are without limit where nobody has set one', async () => {
    const made = await program({ worker: hang })
    await running(made, 'a')
    expect(grants(made)).toEqual([{ sessions: 0 }])
    await made.runner.stop()
  })

  it('go back as far as they were not spent, when a session has ended', async () => {
    const made = await limited(
      { tokens: 100, costUsd: 1 },
      { workerOptions: { usage: { input: 8, output: 2 } }, runner: { prices: dollarPerThousand } },
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    expect(delegatedBy(made.world, made.lead)).toMatchObject({
      reservedTokens: 0,
      spentTokens: 10,
      reservedCostNanoUsd: 0,
      spentCostNanoUsd: 10_000_000,
    })
    expect(grants(made)).toEqual([undefined])
    await made.subagents.spawn({ category: 'researcher', prompt: 'b' })
    await once(made, () => made.sessions()[1]?.status === 'running')
    expect(grants(made)[1]).toEqual({ sessions: 0, tokens: 22, costUsd: 0.2475 })
  })

  it.each(['cancelled', 'timed_out', 'failed'] as const)(
    'go back from a session that ends as %s, less what it had spent',
    async (status) => {
      const made = await limited(
        { tokens: 100 },
        {
          subagents: { researcher: looking },
          workerOptions: { usage: { input: 7 } },
          worker: stepwise(calls(call('look', 'look')), (_, { sleep }) => sleep(1_000).then(() => ({ text: '' }))),
          runner: { tools: [look] },
        },
      )
      const timeoutMs = status === 'timed_out' ? 500 : undefined
      await made.subagents.spawn({ category: 'researcher', prompt: 'a', timeoutMs })
      if (status === 'cancelled') {
        await once(made, () => made.asked('worker').length === 2)
        await made.subagents.cancel(1)
      }
      await made.runner.idle()
      expect(made.sessions()[0]).toMatchObject({ status, usage: { calls: status === 'failed' ? 2 : 1 } })
      const spentTokens = status === 'failed' ? 14 : 7
      expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens })
    },
  )

  /** A session that has spent 7 of its 25 tokens, and goes on. */
  async function halfWay(store: Store, isMortal = false) {
    const made = await limited(
      { tokens: 100 },
      {
        isMortal,
        subagents: { researcher: looking },
        workerOptions: { usage: { input: 7 } },
        worker: stepwise(calls(call('look', 'look')), hang),
        runner: { tools: [look], store },
      },
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await once(made, () => made.asked('worker').length === 2)
    return made
  }

  it('go back from a session that is cancelled just before its Runner is stopped', async () => {
    const made = await halfWay(memoryStore())
    await made.subagents.cancel(1)
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 25, spentTokens: 0 })
    await made.runner.stop()
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 7 })
  })

  it('go back after a restart from a session that was cancelled just before the process ended', async () => {
    const kept = memoryStore()
    const { store, die } = mortalStore(kept)
    const made = await halfWay(store, true)
    made.runner.on('session-ended', die)
    await made.subagents.cancel(1)
    await turns()
    const later = await reopened(kept, { ...made.options, sessionPool: new SessionPool() })
    expect(delegatedBy(later.world, made.lead)).toMatchObject({ reservedTokens: 25, spentTokens: 0 })
    await later.runner.start()
    await later.runner.idle()
    expect(delegatedBy(later.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 7 })
    expect(made.asked('worker')).toHaveLength(2)
  })

  it('are spent by a query that its agent asks, once the session has ended', async () => {
    const made = await limited({ tokens: 100 }, { workerOptions: { usage: { input: 7 } } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    await made.subagents.query(1, 'And?')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 14 })
  })

  it('of a session that is queued are nobody’s yet', async () => {
    const sessionPool = new SessionPool({ cap: 1 })
    const made = await limited({ tokens: 100 }, { worker: hang, runner: { sessionPool } })
    for (const prompt of ['a', 'b']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions()[0]?.status === 'running')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 2, reservedTokens: 25 })
    await made.subagents.cancel(2)
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 2, reservedTokens: 25, spentTokens: 0 })
    await made.runner.stop()
  })
})

describe('a config that names its limits', () => {
  it('is granted them in full', async () => {
    const limits = { sessions: 5, tokens: 90, costUsd: 0.9 }
    const made = await limited(
      { sessions: 6, tokens: 100, costUsd: 1 },
      { subagents: { researcher: { ...nested, limits } }, worker: hang },
    )
    await running(made, 'a')
    expect(grants(made)).toEqual([limits])
    await made.runner.stop()
  })

  it.each([
    ['sessions', { sessions: 6 }],
    ['tokens', { tokens: 101 }],
    ['cost', { costUsd: 1.01 }],
  ])('which are more %s than are left fails at admission, and asks no model', async (what, limits) => {
    const made = team({
      subagents: { researcher: { ...nested, limits } },
      parts: [DelegationLimits({ sessions: 6, tokens: 100, costUsd: 1 })],
      lead: stepwise(calls(delegate('a'))),
    })
    await made.run()
    expect(made.results()['a']).toBe(`Error: Subagent 'researcher' failed: Delegation limit reached: ${what}`)
    expect(made.sessions()).toMatchObject([{ status: 'failed', error: `Delegation limit reached: ${what}` }])
    expect(made.asked('worker')).toEqual([])
    expect(made.told('delegation-started')).toEqual([])
    expect(made.told('delegation-completed')).toEqual([])
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedSessions: 0, reservedTokens: 0 })
  })

  it('fails where an earlier session has taken all of it, between launch and admission', async () => {
    const made = team({
      subagents: { researcher: { limits: { tokens: 100 } } },
      parts: [DelegationLimits({ tokens: 100 })],
      lead: stepwise(calls(delegate('a'), delegate('b'))),
      worker: after(100, 'fine'),
    })
    await made.run()
    expect(made.results()).toEqual({
      a: 'fine',
      b: "Error: Subagent 'researcher' failed: Delegation limit reached: tokens",
    })
  })
})

describe('a session that has spent its grant', () => {
  it('of tokens fails before its next step', async () => {
    const made = await program({
      subagents: { researcher: { ...looking, limits: { tokens: 10 } } },
      worker: restless,
      workerOptions: { usage: { input: 5, output: 1 } },
      runner: { tools: [look] },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    expect(made.asked('worker')).toHaveLength(2)
    expect(made.sessions()[0]).toMatchObject({ status: 'failed', usage: { calls: 2, input: 10, output: 2 } })
    const ended = made.told('turn-ended').find(({ path }) => path !== undefined)
    expect(ended).toMatchObject({ stop: 'budget-spent', failure: { kind: 'budget-spent' } })
    expect(made.sessions()[0]?.error).toBe(ended?.failure?.message)
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 12 })
  })

  it('of money fails by what its model costs', async () => {
    const made = await program({
      subagents: { researcher: { ...looking, limits: { costUsd: 0.01 } } },
      worker: restless,
      workerOptions: { usage: { input: 4 } },
      runner: { tools: [look], prices: dollarPerThousand },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    expect(made.asked('worker')).toHaveLength(3)
    expect(made.sessions()[0]).toMatchObject({ status: 'failed', usage: { costNanoUsd: 12_000_000 } })
    expect(made.told('turn-ended').find(({ path }) => path !== undefined)?.failure?.kind).toBe('budget-spent')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedCostNanoUsd: 0, spentCostNanoUsd: 12_000_000 })
  })

  it('of money goes on where its model has no price: what it costs is not known', async () => {
    const made = await program({
      subagents: { researcher: { ...looking, limits: { costUsd: 0.01 } } },
      worker: stepwise(...Array.from({ length: 5 }, () => calls(call('look', 'look'))), 'Enough.'),
      workerOptions: { usage: { input: 4 } },
      runner: { tools: [look] },
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await expect(made.subagents.collect(1)).resolves.toBe('Enough.')
    expect(made.sessions()[0]?.usage?.costNanoUsd).toBeUndefined()
  })

  it('of nothing never asks its model', async () => {
    const made = await limited({ tokens: 3 })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    expect(made.sessions()[0]?.status).toBe('failed')
    expect(made.asked('worker')).toEqual([])
  })
})

describe('a grant within a grant', () => {
  /** A session that has asked its model once and has a session of its own under way. */
  async function nesting(leaf: Partial<SubagentConfig> = {}) {
    const store = memoryStore()
    const made = await limited(
      { sessions: 41, tokens: 100, costUsd: 1 },
      {
        subagents: { researcher: nested, digger: { ...looking, ...leaf } },
        worker: byTask({
          top: ({ messages }) => {
            const { dig } = resultsIn(messages)
            return dig ?? calls(delegate('dig', { category: 'digger', prompt: 'dig' }))
          },
          dig: stepwise(calls(call('look', 'look')), after(1_000, 'dug')),
        }),
        workerOptions: { usage: { input: 4 } },
        runner: { store, prices: dollarPerThousand, tools: [look] },
      },
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'top' })
    return { made, store }
  }

  it('is set aside in every World above it', async () => {
    const { made, store } = await nesting()
    await once(made, () => made.told('delegation-started').length === 2)
    const { sessionId = '', grant } = made.sessions()[0] ?? {}
    expect(grant).toEqual({ sessions: 10, tokens: 25, costUsd: 0.25 })
    const above = { launched: 1, reservedSessions: 10, reservedTokens: 25, reservedCostNanoUsd: 250_000_000 }
    expect(delegatedBy(made.world, made.lead)).toMatchObject(above)
    await made.runner.stop()
    const child = await storedSession(store, sessionId)
    expect(child.world.read(child.agent, DelegationLimits)).toEqual({ ...grant, depth: 2 })
    expect(delegatedBy(child.world, child.agent)).toMatchObject({
      launched: 1,
      reservedTokens: 5,
      reservedCostNanoUsd: 61_500_000,
    })
  })

  it('comes up with what was spent in it, and so does all that was launched', async () => {
    const { made } = await nesting()
    await made.runner.idle()
    const spent = { spentSessions: 1, spentTokens: 16, spentCostNanoUsd: 16_000_000 }
    const nothing = { reservedSessions: 0, reservedTokens: 0, reservedCostNanoUsd: 0 }
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ ...spent, ...nothing })
    expect(made.sessions()[0]?.usage).toMatchObject({ calls: 2, input: 8, delegatedTokens: 8, sessions: 1 })
  })

  it('comes up with what was spent in it when the session above it is cancelled', async () => {
    const { made } = await nesting()
    await once(made, () => made.asked('worker').length === 3)
    await made.subagents.cancel(1)
    await made.runner.idle()
    expect(made.sessions()[0]).toMatchObject({ status: 'cancelled', usage: { input: 4, delegatedTokens: 4 } })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ spentTokens: 8, reservedTokens: 0 })
  })

  it('is never more than the grant that it lies in, whatever the root has left', async () => {
    const { made } = await nesting({ limits: { tokens: 22 } })
    const error = "Error: Subagent 'digger' failed: Delegation limit reached: tokens"
    await expect(made.subagents.collect(1)).resolves.toBe(error)
  })
})

describe('whatever sessions do', () => {
  /** Tasks are `<calls>/<tokens a call>/<tasks of sessions of its own, after a semicolon each>`. */
  const worker: Behaviour = (request) => {
    const [steps = '1', , own = ''] = taskOf(request).split('/')
    const done = [...request.messages].filter(({ role }) => role === 'assistant').length
    if (done === 0 && own !== '') {
      const tasks = own.split(';').filter((task) => task !== '')
      return calls(...tasks.map((task, index) => delegate(`${index}`, { prompt: task.replace('-', '/') })))
    }
    return done < Number(steps) ? calls(call('look', 'look')) : 'Done.'
  }
  const leaf = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 30 }))
  const branch = fc.tuple(leaf, fc.array(leaf, { maxLength: 3 }), fc.option(fc.integer({ min: 1, max: 60 })))

  it('what they spend comes up to the last token, and nothing stays reserved', async () => {
    const check = async (tokens: number, tasks: (typeof branch extends fc.Arbitrary<infer B> ? B : never)[]) => {
      const made = await limited(
        { tokens },
        {
          subagents: { researcher: { tools: ['look'], inheritancePolicy: { inheritTools: ['subagent'] } } },
          worker,
          workerOptions: { usage: (request) => ({ input: Number(taskOf(request).split('/')[1]) }) },
          runner: { tools: [look], sessionPool: new SessionPool({ cap: 2 }) },
        },
      )
      for (const [[steps, use], own, timeoutMs] of tasks) {
        const prompt = `${steps}/${use}/${own.map(([count, each]) => `${count}-${each}`).join(';')}`
        const timed = timeoutMs === null ? {} : { timeoutMs }
        await rejection(made.subagents.spawn({ category: 'researcher', prompt, ...timed }))
      }
      await made.runner.idle()
      const replies = made.told('model-replied').filter(({ path }) => path !== undefined)
      const used = replies.reduce((sum, { usage }) => sum + (usage.input ?? 0), 0)
      const delegated = delegatedBy(made.world, made.lead)
      if (tokens > 0) expect(delegated).toMatchObject({ reservedSessions: 0, reservedTokens: 0, spentTokens: used })
      else expect(delegated).toBeUndefined()
      await made.runner.stop()
    }
    await fc.assert(fc.asyncProperty(fc.nat({ max: 400 }), fc.array(branch, { minLength: 1, maxLength: 5 }), check), {
      numRuns: 30,
    })
  })
})
