import { type ModelRequest, SessionPool, textOf } from 'entia'
import { DelegationLimits, Ledger, SessionQuery, ToolRegistry } from 'entia/components'
import { contextStats } from 'entia/context'
import { querySubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { settings, validSummary } from '../context/archiving.ts'
import { rejection, turns } from '../turns/driving.ts'
import { mortalStore } from '../stores/watched-store.ts'
import { stores } from './kinds-of-stores.ts'
import { byTask } from './pace.ts'
import { again, delegatedBy, type Program, stuck } from './program.ts'
import { succeeded, thenAsked } from './questions.ts'
import { once } from './sleepy-team.ts'
import { type Behaviour, call, calls, delegate, resultsIn } from './team.ts'
import { cents, ledgerOf, underCeilings } from './thrifty.ts'

/** Looks again and again, and never comes to an end. */
const endless = thenAsked(() => calls(call('look', 'look')))

describe('a question under a ceiling', () => {
  it('sets aside a quarter of what the ceiling leaves, until it is answered', async () => {
    const made = await succeeded(underCeilings({ maxSessionCostUsd: 1.3 }, { worker: thenAsked(stuck) }))
    void made.subagents.query(1, 'Why?').catch(() => undefined)
    await once(made, () => made.asked('worker').length === 2)
    const [query] = made.world.query(SessionQuery)
    expect(made.world.read(query as number, SessionQuery).grant).toEqual({ costUsd: 0.3, sessions: 49 })
    expect(made.runner.host.sessionPool.running).toBe(0)
    await made.runner.stop()
  })

  it('is answered for what it was given and no more than the call in flight beyond it', async () => {
    const made = await succeeded(underCeilings({ maxSessionCostUsd: 1.1 }, { worker: endless }))
    // Of a dollar ten a tenth is spent. A quarter of the rest buys two calls, and a third one passes it.
    await expect(rejection(made.subagents.query(1, 'Why?'))).resolves.toMatchObject({
      code: 'session-failed',
      message: 'The grant of this session is spent: cost',
    })
    expect(made.asked('worker')).toHaveLength(4)
    expect(ledgerOf(made)).toMatchObject({ sessionNanoUsd: cents(40) })
  })

  it('leaves the less to those that are asked meanwhile', async () => {
    const made = await succeeded(
      underCeilings(
        { maxSessionCostUsd: 2.2 },
        { worker: byTask({ Look: thenAsked(stuck), Other: thenAsked(stuck) }) },
      ),
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'Other' })
    await once(made, () => made.sessions()[1]?.status === 'succeeded')
    for (const session of [1, 2]) void made.subagents.query(session, 'Why?').catch(() => undefined)
    await once(made, () => made.asked('worker').length === 4)
    const asked = made.world.query(SessionQuery).map((query) => made.world.read(query, SessionQuery).grant?.costUsd)
    expect(asked).toEqual([0.5, 0.375])
    await made.runner.stop()
  })
})

describe('a question whose turn is archived', () => {
  const isSummary = ({ messages }: ModelRequest): boolean =>
    textOf([...messages][0]).startsWith('Summarize the following')
  /** Looks so often, and says so. */
  const looks = (count: number): Behaviour =>
    thenAsked((request) => {
      const { length } = [...request.messages].filter(({ role }) => role === 'tool')
      return length < count ? calls(call(`look-${length}`, 'look')) : 'Looked.'
    })

  it.each([
    ['is summed up with what its grant has left', 0, 'ok', 1],
    ['is not summed up where its grant is spent', 2, 'unavailable', 0],
  ])('%s', async (_, count, summary, summaries) => {
    const work = looks(count)
    const made = await succeeded(
      underCeilings(
        { maxSessionCostUsd: 1.1 },
        {
          parts: [settings({ trigger: { tokenThreshold: 1, toolCallThreshold: null } })],
          worker: (request, context) => (isSummary(request) ? validSummary : work(request, context)),
        },
      ),
    )
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Looked.')
    await made.runner.idle()
    expect(made.told('turn-archived')).toMatchObject([{ path: [expect.any(String)], summary }])
    expect(made.asked('worker').filter(({ request }) => isSummary(request))).toHaveLength(summaries)
    expect(ledgerOf(made)).toMatchObject({ sessionNanoUsd: cents(10 * made.asked('worker').length) })
  })
})

describe('a question that is called off', () => {
  /** A program whose question has had its first answer by the model, and waits for the second. */
  async function halfWay(): Promise<Program> {
    const made = await succeeded(
      underCeilings(
        { maxSessionCostUsd: 4 },
        {
          lead: () => calls(call('q', 'query_subagent', { id: '1', prompt: 'Why?' })),
          parts: [ToolRegistry({ tools: [querySubagentDeclaration] })],
          worker: thenAsked((request, context) =>
            resultsIn(request.messages)['look'] === undefined ? calls(call('look', 'look')) : stuck(request, context),
          ),
        },
      ),
    )
    await made.runner.message(made.lead, 'Ask.')
    await once(made, () => made.asked('worker').length === 3)
    return made
  }

  function expectCharged(made: Program): void {
    // Its task has cost ten cents, the step that asked one, and the first call for the question ten.
    expect(ledgerOf(made)).toMatchObject({ sessionNanoUsd: cents(21) })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ reservedCostNanoUsd: 0, spentCostNanoUsd: cents(20) })
    expect(contextStats(made.world, made.lead).cost.reservedUsd).toBe(0)
  }

  it('costs what was spent on it by then, and what was set aside for the rest is free again', async () => {
    const made = await halfWay()
    await made.runner.cancel(made.lead)
    await made.runner.idle()
    expectCharged(made)
  })

  it('costs the same if its Runner is stopped just then', async () => {
    const made = await halfWay()
    await made.runner.cancel(made.lead)
    await made.runner.stop()
    expectCharged(made)
  })
})

describe('a question of an agent that has nothing left to delegate', () => {
  it('may cost one call, as the agent may make one of its own', async () => {
    const made = await succeeded(underCeilings({}, { parts: [DelegationLimits({ costUsd: 0.1 })], worker: endless }))
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ spentCostNanoUsd: cents(10) })
    await expect(rejection(made.subagents.query(1, 'Why?'))).resolves.toMatchObject({
      message: 'The grant of this session is spent: cost',
    })
    expect(made.asked('worker')).toHaveLength(2)
  })

  it('has as many tokens as it needs', async () => {
    const made = await succeeded({
      parts: [DelegationLimits({ tokens: 5 })],
      subagents: { researcher: { limits: { tokens: 5 } } },
      workerOptions: { usage: { input: 5 } },
    })
    await expect(made.subagents.query(1, 'Why?')).resolves.toBe('Re: Why?')
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ spentTokens: 10 })
  })
})

describe('a session that is asked', () => {
  it('launches of what was set aside for the question, whatever it was granted for its task', async () => {
    const made = await succeeded({
      parts: [DelegationLimits({ sessions: 9 })],
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
      worker: byTask({
        Look: thenAsked(({ messages }) => {
          const results = resultsIn(messages)
          const next = ['a', 'b', 'c'].find((id) => results[id] === undefined)
          return next === undefined ? JSON.stringify(results) : calls(delegate(next, { prompt: 'dig' }))
        }),
        dig: () => 'Dug.',
      }),
    })
    // Eight are left after the launch, all of which come back; a quarter of them is for the question.
    const answer = JSON.parse((await made.subagents.query(1, 'Why?')) as string) as Record<string, string>
    expect(answer).toEqual({ a: 'Dug.', b: 'Dug.', c: 'Error: Delegation limit reached: sessions' })
    expect(delegatedBy(made.world, made.lead)).toMatchObject({ launched: 1, reservedSessions: 0, spentSessions: 2 })
  })
})

describe.each(stores)('over a restart with a %s', (_, storeOf) => {
  it('a question has what was set aside for it once, and costs what was spent before as well', async () => {
    const kept = await storeOf()
    const { store, die } = mortalStore(kept)
    let isStuck = true
    const made = await succeeded(
      underCeilings(
        { maxSessionCostUsd: 1.7 },
        {
          isMortal: true,
          worker: thenAsked((request, context) => {
            const { length } = [...request.messages].filter(({ role }) => role === 'assistant')
            return isStuck && length === 3 ? stuck(request, context) : calls(call(`look${length}`, 'look'))
          }),
          runner: { store, sessionPool: new SessionPool() },
        },
      ),
    )
    await made.subagents.collect(1)
    void made.subagents.query(1, 'Why?').catch(() => undefined)
    await once(made, () => made.asked('worker').length === 4)
    die()
    await turns()
    isStuck = false
    const later = await again(kept, made)
    // Forty cents were set aside: two calls before the end of the process, two after it.
    await expect(rejection(later.subagents.collect(1))).resolves.toMatchObject({
      message: 'The grant of this session is spent: cost',
    })
    expect(made.asked('worker')).toHaveLength(6)
    expect(later.world.read(made.lead, Ledger)).toMatchObject({ sessionNanoUsd: cents(50) })
  })
})
