import { memoryStore } from 'entia'
import { Ceilings } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { type Program, storedSession } from './program.ts'
import { ledgerOf, thrifty } from './thrifty.ts'
import { calls, delegate, stepwise, type TeamOptions } from './team.ts'

const refusing = { maxSessionCostUsd: 4, onUnpriced: 'refuse' } as const
/** The lead has a price, and its workers have none. */
const prices = { 'lead/x': { input: 10, output: 0 }, 'worker/known': { input: 10, output: 0 } }

function unpriced(ceilings: Parameters<typeof Ceilings>[0], options: TeamOptions = {}): Promise<Program> {
  return thrifty(ceilings, { subagents: { researcher: {} }, runner: { prices }, ...options })
}

const problem =
  'cost unknown: the model worker/x has no price, and a ceiling is set. Give it a price, or set onUnpriced to warn.'

describe('a session on a model without a price', () => {
  it('calls it not once, and fails, where its agent refuses such models', async () => {
    const made = await unpriced(refusing)
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    expect(made.asked('worker')).toEqual([])
    expect(made.sessions()).toMatchObject([{ status: 'failed', error: problem }])
    expect(made.told('turn-error')).toMatchObject([
      { kind: 'cost_unknown', retryable: false, path: [expect.any(String)] },
    ])
    expect(ledgerOf(made)?.sessionNanoUsd ?? 0).toBe(0)
  })

  it('fails below a session on a model with a price just as well', async () => {
    const made = await unpriced(refusing, {
      subagents: {
        researcher: {},
        manager: { model: 'worker/known', tools: [], inheritancePolicy: { inheritTools: ['subagent'] } },
      },
      worker: stepwise(calls(delegate('below', { category: 'researcher', background: false }))),
    })
    await made.subagents.spawn({ category: 'manager', prompt: 'a' })
    await made.runner.idle()
    expect(new Set(made.asked('worker').map(({ request }) => request.model))).toEqual(new Set(['known']))
    expect(JSON.stringify(made.asked('worker').at(-1)?.request.messages.at(-1))).toContain('cost unknown')
  })

  it('fails below a fork too: what refuses goes with it', async () => {
    const store = memoryStore()
    const made = await unpriced(refusing, { runner: { prices, store } })
    const { sessionId } = await made.subagents.fork('Look.')
    await made.runner.idle()
    await made.runner.stop()
    const { world, agent } = await storedSession(store, sessionId)
    expect(world.get(agent, Ceilings)).toEqual({ onUnpriced: 'refuse' })
  })

  it('calls it where its agent is only warned, and that is told once', async () => {
    const made = await unpriced({ maxSessionCostUsd: 4 })
    for (const prompt of ['a', 'b']) await made.subagents.spawn({ category: 'researcher', prompt })
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded', 'succeeded'])
    expect(made.told('cost-unknown')).toMatchObject([{ agent: made.lead, model: 'worker/x' }])
  })
})
