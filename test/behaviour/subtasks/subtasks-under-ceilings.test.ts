import { Conversation, fail, type ScriptedBehaviour, textOf } from 'entia'
import { Ceilings } from 'entia/context'
import { CostCeiling, Ledger, SubtaskAccount, SubtaskCount } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { addAgent, behaving, driven, emptyWorld } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'

const look = tool('look', () => 'a tree')
const asked = { name: 'sum', systemPrompt: 'Sum up.', userMessage: 'What is there?', tools: ['look'] }
const usage = { input: 1_000, output: 0 }
/** A cent a call. */
const prices = { scripted: { input: 10, output: 0 } }
const never: ScriptedBehaviour = ({ messages }) => ({ text: `Step ${messages.length}`, toolCalls: [{ name: 'look' }] })

/** An agent under ceilings that has nothing to do, and a model that takes a second for each call. */
async function thrifty(
  ceilings: Parameters<typeof Ceilings>[0],
  behaviour: ScriptedBehaviour = never,
  options: Parameters<typeof driven>[1] = {},
) {
  const world = emptyWorld()
  const agent = addAgent(world, { messages: [], tools: [look] })
  world.add(agent, Ceilings(ceilings))
  const { models, requests } = behaving(behaviour, { usage, latencyMs: 1_000, retry: false })
  const made = driven(world, { models, tools: [look], prices, ...options })
  await made.runner.start()
  return { ...made, agent, requests }
}

describe('subtasks under a ceiling', () => {
  it('that are in flight when it is met finish their calls, which count once, and start no other', async () => {
    const { runner, world, agent, requests, told } = await thrifty({ maxSessionCostUsd: 0.035 })
    const results = await Promise.all(['a', 'b', 'c'].map((name) => runner.runSubtask(agent, { ...asked, name })))
    await runner.idle()
    // The fourth cent is one too many: the other two of the second round are in flight then.
    expect(requests).toHaveLength(6)
    for (const result of results) {
      expect(result).toMatchObject({ digest: 'Step 3', truncated: true, stepsUsed: 2, costUsd: 0.02 })
      expect(result.failure).toMatchObject({
        kind: 'budget-spent',
        message: expect.stringContaining('$0.0400 of $0.0350'),
      })
    }
    expect(world.get(agent, Ledger)).toMatchObject({
      models: { 'scripted/x': { calls: 6, input: 6_000, costNanoUsd: 60_000_000 } },
      sessionNanoUsd: 60_000_000,
    })
    expect(world.has(agent, CostCeiling)).toBe(true)
    expect(told('turn-error').filter(({ path }) => path === undefined)).toMatchObject([{ agent, kind: 'cost_ceiling' }])
    expect(world.query(SubtaskAccount)).toEqual([])
  })

  it('are charged as they go, and not once more at their end', async () => {
    const ledgers: (number | undefined)[] = []
    const { runner, world, agent } = await thrifty({ maxSessionCostUsd: 10 }, (request, context) => {
      ledgers.push(world.get(agent, Ledger)?.models['scripted/x']?.calls)
      return request.messages.length < 5 ? never(request, context) : 'Fine.'
    })
    await runner.runSubtask(agent, asked)
    expect(ledgers).toEqual([undefined, 1, 2])
    expect(world.get(agent, Ledger)?.models['scripted/x']).toMatchObject({ calls: 3, input: 3_000 })
    expect(world.get(agent, SubtaskCount)).toMatchObject({ ended: 1, inputTokens: 3_000, costNanoUsd: 30_000_000 })
  })

  it('ask no model while the agent is stopped', async () => {
    const { runner, agent, requests } = await thrifty({ maxSessionCostUsd: 0.01 })
    const first = await runner.runSubtask(agent, asked)
    expect(first).toMatchObject({ truncated: true, stepsUsed: 1, failure: { kind: 'budget-spent' } })
    const second = await runner.runSubtask(agent, asked)
    expect(second).toMatchObject({
      digest: '[no digest]',
      truncated: true,
      stepsUsed: 0,
      failure: { kind: 'budget-spent' },
    })
    expect(requests).toHaveLength(1)
  })

  it('ask no model without a price where that is refused', async () => {
    const { runner, agent, requests } = await thrifty({ maxSessionCostUsd: 1, onUnpriced: 'refuse' }, never, {
      prices: {},
    })
    const result = await runner.runSubtask(agent, asked)
    expect(result).toMatchObject({ digest: '[no digest]', stepsUsed: 0, failure: { kind: 'cost-unknown' } })
    expect(requests).toEqual([])
  })

  it('ask one without a price where that is only told, once', async () => {
    const { runner, agent, told } = await thrifty({ maxSessionCostUsd: 1 }, undefined, { prices: {} })
    for (let number = 0; number < 2; number++) await runner.runSubtask(agent, asked)
    expect(told('cost-unknown')).toMatchObject([{ agent, model: 'scripted/x' }])
    expect(told('cost-unknown')[0]).not.toHaveProperty('path')
  })

  it('count what was cut short, as an estimate', async () => {
    const { runner, world, agent } = await thrifty({ maxSessionCostUsd: 10 })
    const result = await runner.runSubtask(agent, { ...asked, timeoutMs: 1_500 })
    expect(result).toMatchObject({ truncated: true, stepsUsed: 2, failure: { kind: 'timed-out' } })
    const row = world.get(agent, Ledger)?.models['scripted/x']
    expect(row).toMatchObject({ calls: 2, estimated: 1 })
    expect(row?.input).toBeGreaterThan(1_000)
    expect(row?.input).toBe(result.usage.input)
  })

  it('that a tool call waits for end with the turn that it stops', async () => {
    const readFile = tool('read_file', () => 'text')
    const world = emptyWorld()
    const agent = addAgent(world, {
      tools: [readFile],
      config: { context: { agentic: { small_model: 'scripted/tiny' } }, ceilings: { max_turn_cost_usd: 0.015 } },
    })
    const { models, requests } = behaving(
      ({ model }) =>
        model === 'tiny'
          ? { text: 'So far.', toolCalls: [{ name: 'read_file' }] }
          : { toolCalls: [{ name: 'agentic_read_file', arguments: { request: 'What?' } }] },
      { usage },
    )
    const made = driven(world, { models, tools: [readFile], prices })
    await made.runner.start()
    await made.runner.idle()
    expect(requests.map(({ model }) => model)).toEqual(['x', 'tiny'])
    const [, , result, closing] = world.read(agent, Conversation)
    expect(JSON.parse(textOf(result))).toMatchObject({ digest: 'So far.', truncated: true, steps_used: 1 })
    expect(textOf(closing)).toContain('budget-spent')
    expect(made.told('turn-ended').filter(({ path }) => path === undefined)).toMatchObject([{ stop: 'budget-spent' }])
  })

  it('whose call fails count what it has cost', async () => {
    const { runner, world, agent } = await thrifty({ maxSessionCostUsd: 10 }, () => fail('unauthorized'))
    expect(await runner.runSubtask(agent, asked)).toMatchObject({ failure: { kind: 'unauthorized' } })
    expect(world.get(agent, Ledger)?.models['scripted/x']).toMatchObject({ calls: 1, costNanoUsd: 0 })
  })
})
