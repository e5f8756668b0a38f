import { ask, fail } from 'entia'
import * as components from 'entia/components'
import { Ceilings, configured, contextStats, readConfig } from 'entia/context'
import { describe, expect, it } from 'vitest'
import { spentOf } from '../../../src/inspector/reading/spent.ts'
import { rawComponents } from '../../../src/inspector/reading/raw-view.ts'
import { statsReport } from '../../../src/rules/context/context-report.ts'
import { RawWorld } from '../../../src/world/raw-world.ts'
import { calls, delegate, stepwise, taskOf, team, type Behaviour, type TeamOptions } from '../sessions/team.ts'
import { stuck } from '../sessions/program.ts'
import { tool } from '../turns/tools.ts'

/** A million tokens cost ten dollars: a call of the lead a cent, one of a worker ten. */
const prices = { 'lead/x': { input: 10, output: 10 }, 'worker/x': { input: 100, output: 100 } }
const usage = { input: 1_000, output: 0 }
/** A call that is made again waits for seconds, which pass at once. */
const retry = { maxAttempts: 5, firstDelayMs: 1, maxDelayMs: 1, kinds: ['overloaded', 'timed-out'] as const }

type Asked = Awaited<ReturnType<typeof asking>>

async function asking({ runner, ...options }: TeamOptions) {
  const made = team({
    leadOptions: { usage, retry: { ...retry, kinds: [...retry.kinds] } },
    workerOptions: { usage },
    agent: { messages: [] },
    subagents: { researcher: { inheritancePolicy: { inheritTools: ['subagent'] } } },
    ...options,
    runner: { prices, ...runner },
  })
  await made.runner.start()
  return made
}

/** Every way of reading what the last turn cost, and what the agent has cost. */
async function readings({ lead, runner, world }: Asked, message = 'Go') {
  const asked = ask(runner, lead, message)
  const parts: (number | undefined)[] = []
  for await (const part of asked.parts) if (part.type === 'end') parts.push(part.answer.costUsd)
  const { cost } = contextStats(world, lead)
  const raw = RawWorld.restore(world.snapshot(), rawComponents(Object.values(components)))
  const inspected = spentOf(raw, lead)
  return { answer: (await asked).costUsd, parts, cost, inspected, text: textOfStats(world, lead) }
}

function textOfStats(world: Asked['world'], agent: number): string {
  return statsReport(contextStats(world, agent), world.get(agent, components.LastTurn))
}

/** What estimates by its ledger, or is stopped by it, changes nothing in what a turn has cost. */
const kinds = [
  ['a plain agent', []],
  ['an agent with a context', configured(readConfig({}))],
  ['an agent under a ceiling', [Ceilings({ maxSessionCostUsd: 100 })]],
] as const

/** Gives its task to a session below it, and says that it has. */
const manager: Behaviour = (request, context) =>
  taskOf(request) === 'Dig' ? 'Dug.' : stepwise(calls(delegate('dig', { prompt: 'Dig' })), 'Managed.')(request, context)

describe.each(kinds)('what a turn of %s cost', (_, parts) => {
  it('is what its calls, its sessions and those below them cost, however it is read', async () => {
    const made = await asking({ parts, lead: stepwise(calls(delegate('a'))), worker: manager })
    const read = await readings(made)
    expect(made.asked('worker')).toHaveLength(3)
    expect([read.answer, ...read.parts]).toEqual([0.32, 0.32])
    expect(read.cost).toMatchObject({ turnUsd: 0.32, sessionUsd: 0.32, turnUnknownCalls: 0, unknownCalls: 0 })
    expect(read.inspected).toMatchObject({ nanoUsd: 320_000_000, turnNanoUsd: 320_000_000, unknown: 0 })
    expect(read.text).toContain('$0.3200')
    expect(read.text).not.toContain('at least')
  })
  it('counts a try that was turned away as nothing, whatever was tried again', async () => {
    let tries = 0
    const made = await asking({ parts, lead: () => (tries++ < 2 ? fail('overloaded') : 'Done.') })
    expect(await readings(made)).toMatchObject({ answer: 0.01, parts: [0.01], cost: { turnUsd: 0.01 } })
  })

  it('is unknown where a try was cut that was made again, and known again in the next turn', async () => {
    let tries = 0
    const made = await asking({ parts, lead: () => (tries++ < 1 ? fail('timed-out') : 'Done.') })
    const read = await readings(made)
    expect([read.answer, ...read.parts]).toEqual([undefined, undefined])
    expect(read.cost.turnUnknownCalls).toBe(1)
    expect(made.world.read(made.lead, components.LastTurn).usage).toMatchObject({ calls: 2, input: 1_000 })
    expect((await readings(made, 'Again')).answer).toBe(0.01)
  })

  it('is unknown where a call was cancelled, and its model keeps its price', async () => {
    const made = await asking({ parts, lead: stuck })
    const called = made.next('model-called')
    const asked = ask(made.runner, made.lead, 'Go')
    await called
    await made.runner.cancel(made.lead)
    expect(await asked).toMatchObject({ stop: 'cancelled', costUsd: undefined, usage: { calls: 1 } })
    const text = textOfStats(made.world, made.lead)
    expect(text).not.toMatch(/no price/i)
    expect(text).toMatch(/cost unknown|1 call estimated/)
  })

  it('is unknown where a session was cut, and counts what that session says later for the life of its agent', async () => {
    const worker = stepwise(calls({ name: 'look', arguments: {} }), stuck)
    const made = await asking({ parts, lead: stepwise(calls(delegate('a'))), worker })
    const asked = ask(made.runner, made.lead, 'Go')
    while (made.asked('worker').length < 2) await made.next('model-called')
    await made.runner.cancel(made.lead)
    expect(await asked).toMatchObject({ stop: 'cancelled', costUsd: undefined })
    await made.runner.idle()
    const { cost } = contextStats(made.world, made.lead)
    expect(cost.sessionUsd).toBeGreaterThanOrEqual(0.11)
  })

  it('is known where a session was cut that has said what it used before the turn ends', async () => {
    const tools = [
      tool('nap', ({ sleep }) => sleep(60_000).then(() => 'Slept.')),
      tool('long', ({ sleep }) => sleep(1e9)),
    ]
    const nap = calls({ name: 'nap', arguments: {} })
    const cancel = calls({ name: 'subagent_cancel', arguments: { session_id: '1' } })
    const made = await asking({
      parts,
      lead: stepwise(calls(delegate('a', { background: true })), nap, cancel, nap),
      worker: stepwise(calls({ name: 'long', arguments: {} })),
      agent: { messages: [], tools },
      subagents: { researcher: { inheritancePolicy: { inheritTools: ['long'] } } },
      runner: { tools },
    })
    const read = await readings(made)
    expect(made.sessions()).toMatchObject([{ status: 'cancelled' }])
    expect([read.answer, ...read.parts]).toEqual([0.15, 0.15])
  })

  it('is unknown where a call below a session was cut, up to the agent that launched the first', async () => {
    let tries = 0
    const worker: Behaviour = (request, context) =>
      taskOf(request) === 'Dig' && tries++ < 1 ? fail('timed-out') : manager(request, context)
    const made = await asking({
      parts,
      lead: stepwise(calls(delegate('a'))),
      worker,
      workerOptions: { usage, retry: { ...retry, kinds: [...retry.kinds] } },
    })
    const read = await readings(made)
    expect(read.answer).toBeUndefined()
    expect(read.cost.unknownCalls).toBe(1)
    expect(read.text).toContain('at least $0.3200')
    expect(read.text).not.toMatch(/no price/i)
  })

  it('is unknown where a session has a model without a price', async () => {
    const lead = stepwise(calls(delegate('a')))
    const made = await asking({ parts, lead, runner: { prices: { 'lead/x': { input: 10, output: 10 } } } })
    const read = await readings(made)
    expect(read.answer).toBeUndefined()
    expect(read.cost).toMatchObject({ turnUsd: 0.02, unpricedCalls: 1 })
    expect(read.text).toContain('No price: worker/x')
  })

  it('is nothing with a model that costs nothing, turn after turn', async () => {
    const made = await asking({ parts, runner: { prices: { 'lead/x': { input: 0, output: 0 } } } })
    expect((await readings(made)).answer).toBe(0)
    expect((await readings(made, 'Again')).answer).toBe(0)
  })
})
