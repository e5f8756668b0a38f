import { memoryStore, SessionPool, type SubagentConfig } from 'entia'
import { DelegationLimits } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { rejection } from '../turns/driving.ts'
import { dollarPerThousand, grants, limited, looking, nested, running } from './granting.ts'
import { after, byTask } from './pace.ts'
import { delegatedBy, look, program, storedSession, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, resultsIn, stepwise, team } from './team.ts'

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

describe('an agent whose next session would be granted none', () => {
  const cases: [string, Parameters<typeof DelegationLimits>[0], Partial<SubagentConfig>][] = [
    ['tokens', { tokens: 3 }, {}],
    ['cost', { costUsd: 0.000_000_003 }, {}],
    ['tokens', {}, { limits: { tokens: 0 } }],
    ['cost', {}, { limits: { costUsd: 0 } }],
  ]

  it.each(cases)('of the %s is told so by its tool at the call: %j, %j', async (what, limits, config) => {
    const made = team({
      subagents: { researcher: config },
      parts: [DelegationLimits(limits)],
      lead: stepwise(calls(delegate('a'), delegate('b', { background: true }))),
    })
    await made.run()
    const refused = `Error: Delegation limit reached: ${what}`
    expect(made.results()).toEqual({ a: refused, b: refused })
    expect(made.told('session-queued')).toEqual([])
  })

  it('of the tokens refuses a program, for forks as well', async () => {
    const made = await limited({ tokens: 3 })
    const limit = { code: 'limit-reached', message: 'Delegation limit reached: tokens' }
    await expect(rejection(made.subagents.spawn({ category: 'researcher', prompt: 'Look' }))).resolves.toMatchObject(
      limit,
    )
    await expect(rejection(made.subagents.fork('Look'))).resolves.toMatchObject(limit)
  })

  it('of the tokens may name fewer than a quarter in a config', async () => {
    const made = await limited({ tokens: 3 }, { subagents: { researcher: { limits: { tokens: 1 } } }, worker: stuck })
    await running(made, 'a')
    expect(grants(made)).toEqual([{ sessions: 0, tokens: 1 }])
    await made.runner.stop()
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

  it('are told of at 90 %, once, and again at 90 % of a limit that was raised', async () => {
    const made = await program()
    const launch = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await made.subagents.spawn({ category: 'researcher', prompt: `${n}` })
      await made.runner.idle()
    }
    await launch(179)
    expect(made.told('session-limit-neared')).toEqual([])
    await launch(21)
    expect(made.told('session-limit-neared')).toMatchObject([{ agent: made.lead, limit: 200, used: 180 }])
    await expect(rejection(launch(1))).resolves.toMatchObject({ code: 'limit-reached' })
    await made.runner.change((world) => world.set(made.lead, DelegationLimits, { sessions: 240 }))
    await launch(40)
    expect(made.told('session-limit-neared')).toMatchObject([{ used: 180 }, { limit: 240, used: 216 }])
    expect(made.sessions()).toHaveLength(240)
  })

  it('that are granted to those that run count, and a grant itself is not told of', async () => {
    const made = await limited({ sessions: 10 }, { subagents: { researcher: { ...nested, limits: { sessions: 8 } } } })
    await made.subagents.spawn({ category: 'researcher', prompt: 'Look' })
    await made.runner.idle()
    expect(made.told('session-limit-neared')).toMatchObject([{ limit: 10, used: 9 }])
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
      { subagents: { researcher: nested }, worker: stuck, runner: { sessionPool: new SessionPool({ cap: 2 }) } },
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

  it('are granted to none that is too deep to delegate', async () => {
    const made = await limited({ depth: 1, sessions: 100 }, { subagents: { researcher: nested }, worker: stuck })
    await running(made, 'a')
    expect(grants(made)).toEqual([{ sessions: 0 }])
    await made.runner.stop()
  })

  it('are granted to none that cannot delegate', async () => {
    const made = await limited({ sessions: 100 }, { worker: stuck })
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

describe('a config that names its limits', () => {
  it('is granted them in full', async () => {
    const limits = { sessions: 5, tokens: 90, costUsd: 0.9 }
    const made = await limited(
      { sessions: 6, tokens: 100, costUsd: 1 },
      { subagents: { researcher: { ...nested, limits } }, worker: stuck },
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

  it('waits where an earlier session has reserved all of it, between launch and admission', async () => {
    const made = team({
      subagents: { researcher: { limits: { tokens: 100 } } },
      parts: [DelegationLimits({ tokens: 100 })],
      lead: stepwise(calls(delegate('a'), delegate('b'))),
      worker: after(100, 'fine'),
    })
    await made.run()
    expect(made.results()).toEqual({ a: 'fine', b: 'fine' })
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
