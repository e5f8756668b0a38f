import { memoryStore, SessionPool, type Store } from 'entia'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rejection, reopened, turns } from '../turns/driving.ts'
import { mortalStore } from '../stores/watched-store.ts'
import { dollarPerThousand, grants, limited, looking, nested, running } from './granting.ts'
import { byTask } from './pace.ts'
import { delegatedBy, launched, look, program, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, stepwise, taskOf } from './team.ts'

/** Looks again and again. */
const restless: Behaviour = () => calls(call('look', 'look'))

describe('the tokens and the money of sessions', () => {
  it('are granted by a quarter of what is left, one session after the other', async () => {
    const made = await limited({ tokens: 100, costUsd: 1 }, { worker: stuck })
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
    const made = await program({ worker: stuck })
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
      expect(made.sessions()[0]).toMatchObject({ status, usage: { calls: status === 'failed' ? 3 : 1 } })
      const spentTokens = status === 'failed' ? 21 : 7
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
        worker: stepwise(calls(call('look', 'look')), stuck),
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

  it('go back from a session that is cancelled while it waits for its slot after a restart', async () => {
    const kept = memoryStore()
    const { store, die } = mortalStore(kept)
    const made = await halfWay(store, true)
    await made.subagents.spawn({ category: 'researcher', prompt: 'b' })
    await once(made, () => made.asked('worker').length === 4)
    die()
    await turns()
    const later = await reopened(kept, { ...made.options, sessionPool: new SessionPool({ cap: 1 }) })
    await later.runner.start()
    const subagents = later.runner.subagents(made.lead)
    await turns()
    expect(made.asked('worker')).toHaveLength(5)
    expect(delegatedBy(later.world, made.lead)).toMatchObject({ reservedTokens: 43, spentTokens: 0 })
    await subagents.cancel(2)
    await turns()
    expect(delegatedBy(later.world, made.lead)).toMatchObject({ reservedTokens: 25, spentTokens: 7 })
    await later.runner.stop()
  })

  it('go back from a session that is cancelled while its result is being written down', async () => {
    const [writing, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const kept = memoryStore()
    const putText: Store['putText'] = async (...parts) => {
      writing.resolve()
      await written.promise
      await kept.putText(...parts)
    }
    const usage = { workerOptions: { usage: { input: 5, output: 2 } } }
    const made = await limited({ tokens: 100 }, { ...usage, runner: { store: { ...kept, putText } } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await writing.promise
    await made.subagents.cancel(1)
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 25, spentTokens: 0 })
    written.resolve()
    await made.runner.idle()
    await turns()
    await made.runner.idle()
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 7 })
    await made.runner.stop()
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
    const made = await limited({ tokens: 100 }, { worker: stuck, runner: { sessionPool } })
    for (const prompt of ['a', 'b']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => made.sessions()[0]?.status === 'running')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 2, reservedTokens: 25 })
    await made.subagents.cancel(2)
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 2, reservedTokens: 25, spentTokens: 0 })
    await made.runner.stop()
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

  it('fails before its next step when sessions of its own have spent the rest of it', async () => {
    const made = await program({
      subagents: { researcher: { ...nested, limits: { tokens: 10 } }, digger: { limits: { tokens: 6 } } },
      worker: byTask({
        top: stepwise(calls(delegate('dig', { category: 'digger', prompt: 'dig' })), 'Too much.'),
        dig: () => 'Dug.',
      }),
      workerOptions: { usage: (request) => ({ input: taskOf(request) === 'top' ? 4 : 6 }) },
    })
    await launched(made, 'top')
    await made.runner.idle()
    expect(made.asked('worker')).toHaveLength(2)
    expect(made.sessions()[0]).toMatchObject({ status: 'failed', usage: { input: 4, delegatedTokens: 6 } })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedTokens: 0, spentTokens: 10 })
  })

  it('of nothing, because earlier sessions left too little at its admission, never asks its model', async () => {
    const made = await limited({ tokens: 4 }, { workerOptions: { usage: { input: 1 } } })
    await Promise.all([launched(made, 'a'), launched(made, 'b')])
    await made.runner.idle()
    expect(made.sessions()[1]).toMatchObject({ status: 'failed', error: 'Delegation limit reached: tokens' })
    expect(made.asked('worker')).toHaveLength(1)
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
      const { reservedSessions = 0, reservedTokens = 0, spentTokens = 0 } = delegatedBy(made.world, made.lead) ?? {}
      expect({ reservedSessions, reservedTokens, spentTokens }).toEqual({
        reservedSessions: 0,
        reservedTokens: 0,
        spentTokens: used,
      })
      await made.runner.stop()
    }
    await fc.assert(fc.asyncProperty(fc.nat({ max: 400 }), fc.array(branch, { minLength: 1, maxLength: 5 }), check), {
      numRuns: 30,
    })
  })
})
