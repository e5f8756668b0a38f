import { Conversation, LastTurn, SessionPool } from 'entia'
import { CostCeiling, DelegationLimits, ReportedUsage } from 'entia/components'
import { Ceilings, Context } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { gate, rejection } from '../turns/driving.ts'
import { grants, looking } from './granting.ts'
import { byTask } from './pace.ts'
import { type Program, stuck } from './program.ts'
import { once } from './sleepy-team.ts'
import { cents, ledgerOf, looks, thrifty } from './thrifty.ts'
import { type Behaviour, call, calls, delegate, notesIn, stepwise } from './team.ts'

function running({ sessions }: Program): boolean {
  return sessions().every(({ status }) => status === 'running')
}

describe('a session of an agent under a ceiling', () => {
  it('is granted a quarter of what the ceiling leaves, where no other limit of money is set', async () => {
    const made = await thrifty({ maxSessionCostUsd: 1 }, { worker: stuck })
    for (const prompt of ['a', 'b']) await made.subagents.spawn({ category: 'researcher', prompt })
    await once(made, () => running(made))
    expect(grants(made)).toEqual([
      { sessions: 0, costUsd: 0.25 },
      { sessions: 0, costUsd: 0.1875 },
    ])
    await made.runner.stop()
  })

  it.each([
    ['a ceiling', [Ceilings({ maxSessionCostUsd: 1e300 })]],
    ['a limit of what it may delegate', [DelegationLimits({ costUsd: 1e300 })]],
  ])('runs where %s is more than anybody has', async (_, parts) => {
    const made = await thrifty({ maxSessionCostUsd: 1e9 }, { parts })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.resetCostCeiling(made.lead, { addSessionUsd: 1e300 })
    await made.runner.idle()
    expect(made.sessions().map(({ status }) => status)).toEqual(['succeeded'])
  })

  it('is granted of the tighter of two limits', async () => {
    const limits = [DelegationLimits({ costUsd: 0.4 })]
    const made = await thrifty({ maxSessionCostUsd: 1 }, { worker: stuck, parts: limits })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await once(made, () => running(made))
    expect(grants(made)).toEqual([{ sessions: 0, costUsd: 0.1 }])
    await made.runner.stop()
  })

  it('enters the ledger once, under its own model, and its grant is free again', async () => {
    const made = await thrifty({ maxSessionCostUsd: 4 }, { worker: looks(2) })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    expect(ledgerOf(made)).toEqual({
      models: { 'worker/x': { calls: 3, costNanoUsd: cents(30), input: 3_000, output: 0 } },
      sessionNanoUsd: cents(30),
      turnNanoUsd: 0,
    })
    await made.subagents.spawn({ category: 'researcher', prompt: 'b' })
    await once(made, () => made.sessions()[1]?.status === 'running')
    expect(grants(made)[1]).toEqual({ sessions: 0, costUsd: (4 - 0.3) / 4 })
    await made.runner.idle()
    expect(ledgerOf(made)).toMatchObject({ models: { 'worker/x': { calls: 6 } }, sessionNanoUsd: cents(60) })
  })

  it.each(['cancelled', 'timed_out', 'failed'] as const)('enters it as well when it is %s', async (status) => {
    const slow: Behaviour = stepwise(calls(call('look', 'look')), (_, { sleep }) =>
      sleep(1_000).then(() => ({ text: '' })),
    )
    const made = await thrifty({ maxSessionCostUsd: 4 }, { worker: slow })
    const timeoutMs = status === 'timed_out' ? 500 : undefined
    await made.subagents.spawn({ category: 'researcher', prompt: 'a', timeoutMs })
    if (status === 'cancelled') {
      await once(made, () => made.asked('worker').length === 2)
      await made.subagents.cancel(1)
    }
    await made.runner.idle()
    // It is asked once more after a reply that says nothing.
    const known = status === 'failed' ? 3 : 1
    expect(made.sessions()[0]?.status).toBe(status)
    expect(ledgerOf(made)).toMatchObject({
      models: { 'worker/x': { calls: known } },
      sessionNanoUsd: cents(10 * known),
    })
    expect(made.world.query(ReportedUsage)).toEqual([])
  })

  it('counts while it runs, with the ticks of its parent that come anyway, and once', async () => {
    const opened = gate()
    const worker: Behaviour = async (request, context) => {
      const { length } = [...request.messages].filter(({ role }) => role === 'assistant')
      if (length === 2) await context.sleep(60_000)
      return length < 2 ? calls(call('look', 'look')) : 'Done.'
    }
    const made = await thrifty({ maxSessionCostUsd: 4 }, { worker, lead: () => opened.promise.then(() => 'Hm.') })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await once(made, () => made.asked('worker').length === 3)
    expect(ledgerOf(made), 'a world that only waits is told nothing').toBeUndefined()
    const replied = made.next('turn-ended')
    await made.runner.message(made.lead, 'Well?')
    expect(ledgerOf(made)).toMatchObject({ sessionNanoUsd: cents(20) })
    opened.resolve()
    await replied
    expect(ledgerOf(made)).toMatchObject({
      models: { 'lead/x': { calls: 1 }, 'worker/x': { calls: 2 } },
      sessionNanoUsd: cents(21),
      turnNanoUsd: cents(1),
    })
    await made.runner.idle()
    expect(ledgerOf(made)).toMatchObject({ models: { 'worker/x': { calls: 3 } }, sessionNanoUsd: cents(31) })
  })

  it('that has told of its spending holds no more than the rest of its grant', async () => {
    const worker = stepwise(calls(call('look', 'look')), (_, { sleep }) => sleep(60_000).then(() => 'Done.'))
    const made = await thrifty({ maxSessionCostUsd: 4 }, { worker, lead: () => 'Hm.' })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await once(made, () => made.asked('worker').length === 2)
    await made.runner.message(made.lead, 'Well?')
    expect(ledgerOf(made)).toMatchObject({ sessionNanoUsd: cents(10) })
    await made.next('turn-ended')
    await made.subagents.spawn({ category: 'researcher', prompt: 'b' })
    await once(made, () => running(made))
    // Of four dollars eleven cents are spent, and ninety are held of the first dollar that was granted.
    expect(grants(made)[1]).toEqual({ sessions: 0, costUsd: (4 - 0.11 - 0.9) / 4 })
  })

  it('pays for summaries of its own from its grant, and its parent has them in the ledger', async () => {
    const worker: Behaviour = (request) => {
      if (request.tools.length === 0) return 'It has looked.'
      return [...request.messages].some(({ role }) => role === 'assistant') ? 'Done.' : calls(call('look', 'look'))
    }
    const made = await thrifty(
      { maxSessionCostUsd: 4 },
      {
        worker,
        parts: [Context({})],
        // Each step fills the window: a summary takes its place before the next one.
        runner: { prices: { 'worker/x': { input: 100, output: 0, contextWindow: 1_000 } } },
        subagents: { researcher: { ...looking, maxSteps: 2 } },
      },
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    const asked = made.asked('worker')
    expect(asked.map(({ request }) => request.tools.length > 0)).toEqual([true, false, true])
    expect(made.sessions()[0]?.usage).toMatchObject({ calls: 3, costNanoUsd: cents(30), input: 3_000 })
    expect(ledgerOf(made)).toMatchObject({
      models: { 'worker/x': { calls: 3, costNanoUsd: cents(30), input: 3_000 } },
      sessionNanoUsd: cents(30),
    })
  })

  it('that a call waits for counts for the turn that has launched it', async () => {
    const made = await thrifty(
      { maxTurnCostUsd: 1 },
      { worker: looks(1), lead: stepwise(calls(delegate('a'))), agent: { messages: 'Go' } },
    )
    await made.runner.idle()
    expect(ledgerOf(made)).toMatchObject({ turnNanoUsd: cents(22), sessionNanoUsd: cents(22) })
  })

  it('fails where nothing is left when its turn in the queue comes', async () => {
    const made = await thrifty(
      { maxSessionCostUsd: 1 },
      { worker: byTask({ a: looks(2), b: () => 'Never.' }), runner: { sessionPool: new SessionPool({ cap: 1 }) } },
    )
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.subagents.spawn({ category: 'researcher', prompt: 'b' })
    await made.runner.change((world) => world.patch(made.lead, Ceilings, { maxSessionCostUsd: 0.25 }))
    await made.runner.idle()
    expect(made.sessions()[1]).toMatchObject({ status: 'failed', error: 'Delegation limit reached: cost' })
  })
})

describe('an agent that has reached its ceiling', () => {
  it('lets its sessions run on within their grants, and is told of them when it goes on', async () => {
    const looksFirst = stepwise(calls(call('look', 'look')), (_, { sleep }) => sleep(1_000).then(() => 'Found.'))
    const waits: Behaviour = (_, { sleep }) => sleep(100).then(() => calls(call('wait', 'subagent_wait')))
    const made = await thrifty(
      { maxTurnCostUsd: 0.205 },
      {
        worker: looksFirst,
        lead: stepwise(calls(delegate('a', { background: true })), waits),
        agent: { messages: 'Go' },
        registry: { wakeIdle: true },
        // Here it is the lead whose calls cost ten cents, and the worker's one.
        runner: { prices: { 'lead/x': { input: 100, output: 0 }, 'worker/x': { input: 10, output: 0 } } },
      },
    )
    await made.next('turn-ended')
    expect(made.told('turn-error')[0]?.message).toContain('this turn has spent $0.2100 of $0.2050')
    expect(made.results()['wait']).toBe('[not run: cost ceiling reached]')
    expect(made.world.read(made.lead, LastTurn).stop).toBe('budget-spent')
    expect(made.sessions()[0]?.status).toBe('running')

    await made.runner.idle()
    expect(made.sessions()[0]?.status).toBe('succeeded')
    expect(ledgerOf(made)).toMatchObject({ models: { 'worker/x': { calls: 2 } }, sessionNanoUsd: cents(22) })
    expect(notesIn(made.world.read(made.lead, Conversation))).toEqual([])
    expect(made.asked('lead')).toHaveLength(2)

    await made.runner.resetCostCeiling(made.lead)
    await made.runner.idle()
    expect(notesIn(made.world.read(made.lead, Conversation))).toHaveLength(1)
    expect(made.asked('lead')).toHaveLength(3)
  })

  it('launches no session between its turns, though its life may cost more', async () => {
    const made = await thrifty({ maxTurnCostUsd: 0.01, maxSessionCostUsd: 9 })
    await made.runner.message(made.lead, 'Go')
    await made.runner.idle()
    expect(made.world.read(made.lead, CostCeiling).bound).toBe('turn')
    const refused = rejection(made.subagents.spawn({ category: 'researcher', prompt: 'b' }))
    await expect(refused).resolves.toMatchObject({ code: 'limit-reached' })
    await made.runner.resetCostCeiling(made.lead)
    await made.subagents.spawn({ category: 'researcher', prompt: 'b' })
    await made.runner.idle()
    expect(made.sessions()).toMatchObject([{ status: 'succeeded' }])
  })

  it('launches no session, and puts no question to one', async () => {
    const made = await thrifty({ maxSessionCostUsd: 1 })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    await made.runner.change((world) => world.patch(made.lead, Ceilings, { maxSessionCostUsd: 0.05 }))
    await made.runner.message(made.lead, 'Go')
    await made.runner.idle()
    expect(made.world.has(made.lead, CostCeiling)).toBe(true)
    await expect(rejection(made.subagents.spawn({ category: 'researcher', prompt: 'b' }))).resolves.toMatchObject({
      code: 'limit-reached',
      message: 'Delegation limit reached: cost',
    })
    await expect(rejection(made.subagents.query(1, 'And?'))).resolves.toMatchObject({
      code: 'session-failed',
      message: expect.stringContaining('cost ceiling: this session has spent') as string,
    })
    expect(made.asked('worker')).toHaveLength(1)
  })
})

describe('a question to a session', () => {
  it('is in the ledger of whoever asks, under the session’s model', async () => {
    const made = await thrifty({ maxSessionCostUsd: 4 })
    await made.subagents.spawn({ category: 'researcher', prompt: 'a' })
    await made.runner.idle()
    await made.subagents.query(1, 'And?')
    expect(ledgerOf(made)).toMatchObject({
      models: { 'worker/x': { calls: 2, costNanoUsd: cents(20) } },
      sessionNanoUsd: cents(20),
    })
  })
})
