import { type AgentOptions, type Entity, fail, Llm, Permissions, VirtualClock, type World } from 'entia'
import {
  Ledger,
  SubagentNotification,
  SubagentSession,
  Subtask,
  SubtaskAccount,
  SubtaskCount,
  ToolRegistry,
} from 'entia/components'
import { describe, expect, it } from 'vitest'
import { contextReport } from '../../../src/rules/context/context-report.ts'
import { contextStats } from '../../../src/rules/context/context-stats.ts'
import { behaving, driven, rejection, worldWith } from '../turns/driving.ts'
import { tool, wait } from '../turns/tools.ts'

const asked = { name: 'sum', systemPrompt: 'Sum up.', userMessage: 'What is there?', tools: [] }
const usage = { input: 100, output: 10 }
const look = tool('look', () => 'a tree')
const look2 = { name: 'look', arguments: {} }

/** A world with an agent that has its context kept, and nothing to do. */
function idleWorld(options: Partial<AgentOptions> = {}): { world: World; agent: Entity } {
  return worldWith({ messages: [], config: {}, ...options })
}

async function running(world: World, options: Parameters<typeof driven>[1]) {
  const made = driven(world, options)
  await made.runner.start()
  return made
}

describe('a subtask', () => {
  it('knows its prompt, its message and its tools, and nothing else', async () => {
    const { models, requests } = behaving(() => 'All is well.')
    const other = tool('other', () => '')
    const extra = { web_search: 'SECRET' }
    const { world, agent } = idleWorld({ system: 'SECRET', tools: [look, other], messages: 'SECRET' })
    world.patch(agent, Llm, { extra, temperature: 0.5 })
    const { runner } = await running(world, { models, tools: [look, other] })
    await runner.idle()
    await runner.runSubtask(agent, { ...asked, tools: ['look'] })
    await runner.runSubtask(agent, { ...asked, systemPrompt: 'Literal ${_installed_tools}', userMessage: 'And now?' })
    const [, first, second] = requests
    expect(first).toMatchObject({ system: 'Sum up.', tools: [{ name: 'look' }], options: { temperature: 0.5 } })
    expect([...(first?.messages ?? [])]).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'What is there?' }] },
    ])
    expect(second).toMatchObject({ system: 'Literal ${_installed_tools}', tools: [] })
    for (const request of [first, second]) expect(JSON.stringify(request)).not.toContain('SECRET')
    expect(JSON.stringify(second)).not.toContain('What is there?')
  })

  it('resolves with its digest and what it has used', async () => {
    const { models } = behaving(
      ({ messages }) => (messages.length === 1 ? { text: 'Hm.', toolCalls: [look2] } : 'Fine.'),
      {
        usage: { ...usage, cacheRead: 7 },
      },
    )
    const { world, agent } = idleWorld({ tools: [look] })
    const prices = { scripted: { input: 1, output: 10 } }
    const { runner, told } = await running(world, { models, tools: [look], prices })
    const result = await runner.runSubtask(agent, { ...asked, tools: ['look'] })
    expect(result).toEqual({
      digest: 'Fine.',
      truncated: false,
      stepsUsed: 2,
      usage: { input: 200, output: 20, cacheRead: 14 },
      costUsd: 0.000_414,
      durationMs: 0,
    })
    expect(told('subtask-ended')).toMatchObject([{ agent, subtaskId: `world/${agent}:sub:sum:1`, result }])
    expect(told('model-called').map(({ path }) => path)).toEqual([
      [`world/${agent}:sub:sum:1`],
      [`world/${agent}:sub:sum:1`],
    ])
  })

  it('is no session: it takes no slot, has no record, and nobody is notified of it', async () => {
    const { models } = behaving(async (_, { signal }) => {
      await new Promise((resolve) => setImmediate(resolve))
      return signal.aborted ? '' : 'Fine.'
    })
    const { world, agent } = idleWorld()
    const { runner } = await running(world, { models, maxSessions: 1 })
    const all = ['a', 'b', 'c'].map((name) => runner.runSubtask(agent, { ...asked, name }))
    expect((await Promise.all(all)).map(({ digest }) => digest)).toEqual(['Fine.', 'Fine.', 'Fine.'])
    await runner.idle()
    for (const token of [SubagentSession, SubagentNotification, Subtask, SubtaskAccount]) {
      expect(world.query(token)).toEqual([])
    }
  })

  it('that reaches its step limit with calls open is truncated', async () => {
    const { models } = behaving(({ messages }) => ({ text: `Step ${messages.length}`, toolCalls: [look2] }), { usage })
    const { world, agent } = idleWorld({ tools: [look] })
    const { runner } = await running(world, { models, tools: [look] })
    const result = await runner.runSubtask(agent, { ...asked, tools: ['look'], maxSteps: 2 })
    expect(result).toMatchObject({ digest: 'Step 3', truncated: true, stepsUsed: 2, failure: { kind: 'step-limit' } })
  })

  it('that answers with its last step is not truncated', async () => {
    const { models } = behaving(({ messages }) => (messages.length === 1 ? { toolCalls: [look2] } : 'Fine.'))
    const { world, agent } = idleWorld({ tools: [look] })
    const { runner } = await running(world, { models, tools: [look] })
    const result = await runner.runSubtask(agent, { ...asked, tools: ['look'], maxSteps: 2 })
    expect(result).toMatchObject({ digest: 'Fine.', truncated: false, stepsUsed: 2 })
    expect(result.failure).toBeUndefined()
  })

  it('that runs out of time is stopped, and gives what it has', async () => {
    const { models } = behaving(
      ({ messages }) => ({ text: `Step ${messages.length}`, toolCalls: [{ name: 'wait', arguments: { n: 40_000 } }] }),
      { usage },
    )
    const { world, agent } = idleWorld({ tools: [wait] })
    const { runner } = await running(world, { models, tools: [wait] })
    const result = await runner.runSubtask(agent, { ...asked, tools: ['wait'] })
    expect(result).toMatchObject({
      digest: 'Step 3',
      truncated: true,
      stepsUsed: 2,
      durationMs: 60_000,
      failure: { kind: 'timed-out' },
    })
    expect(world.nowMs).toBe(60_000)
  })

  it('that ends at its deadline has ended', async () => {
    const { models } = behaving(() => 'Fine.', { latencyMs: 1_000 })
    const { world, agent } = idleWorld()
    const { runner } = await running(world, { models })
    const result = await runner.runSubtask(agent, { ...asked, timeoutMs: 1_000 })
    expect(result).toMatchObject({ digest: 'Fine.', truncated: false, durationMs: 1_000 })
  })

  it('whose model is stopped at its output limit is truncated', async () => {
    const { models } = behaving(() => ({ text: 'Fi', stop: 'max-tokens' }))
    const { world, agent } = idleWorld()
    const { runner } = await running(world, { models })
    expect(await runner.runSubtask(agent, asked)).toMatchObject({ digest: 'Fi', truncated: true })
  })

  it('whose model writes nothing has no digest', async () => {
    const { models } = behaving(() => '')
    const { world, agent } = idleWorld()
    const { runner } = await running(world, { models })
    expect(await runner.runSubtask(agent, asked)).toMatchObject({ digest: '[no digest]', truncated: false })
  })

  it('that fails says why, and has no digest of what closed its turn', async () => {
    const { models } = behaving(() => fail('unauthorized', { message: 'No key.' }))
    const { world, agent } = idleWorld()
    const { runner } = await running(world, { models })
    const result = await runner.runSubtask(agent, asked)
    expect(result).toMatchObject({
      digest: '[no digest]',
      truncated: false,
      failure: { kind: 'unauthorized', message: 'No key.' },
    })
  })

  it('counts, whether it reaches its limit or runs out of time, and one without a name does not', async () => {
    const { models } = behaving(({ system }) => ({ text: system ?? '', toolCalls: [look2] }), {
      usage,
      latencyMs: 1_000,
    })
    const { world, agent } = idleWorld({ tools: [look] })
    const { runner } = await running(world, { models, tools: [look] })
    const limited = await runner.runSubtask(agent, { ...asked, tools: ['look'], maxSteps: 1 })
    // Its only call is cut short: what it has read is estimated.
    const late = await runner.runSubtask(agent, { ...asked, tools: ['look'], timeoutMs: 500 })
    const nameless = await rejection(runner.runSubtask(agent, { ...asked, name: '' }))
    expect([limited.truncated, late.truncated]).toEqual([true, true])
    expect(nameless).toMatchObject({ code: 'invalid-argument' })
    const input = usage.input + (late.usage.input ?? 0)
    expect(late.usage.input).toBeGreaterThan(0)
    expect(contextStats(world, agent)).toMatchObject({
      subtaskCount: 2,
      subtaskTruncated: 2,
      subtaskInputTokens: input,
    })
    expect(world.get(agent, Ledger)?.models).toEqual({
      'scripted/x': { calls: 2, estimated: 1, input, output: 10, unpriced: 1 },
    })
  })

  it.each([
    ['scripted/x', 'scripted/free'],
    ['scripted/free', 'scripted/x'],
  ])('that has no price makes the cost of all of them one that is at least so much: %s, %s', async (...names) => {
    const { models } = behaving(() => 'Fine.', { usage })
    const { world, agent } = idleWorld()
    const { runner } = await running(world, { models, prices: { 'scripted/x': { input: 100, output: 0 } } })
    const rows: (string | undefined)[] = []
    for (const model of [...names, 'scripted/x']) {
      await runner.runSubtask(agent, { ...asked, model })
      rows.push(/Subtasks: .*/.exec(contextReport(contextStats(world, agent), 0))?.[0])
    }
    const first = names[0] === 'scripted/x' ? ', $0.0100 rolled up to /stats total' : ''
    expect(rows).toEqual([
      `Subtasks: 1 (100 in / 10 out tokens${first})`,
      'Subtasks: 2 (200 in / 20 out tokens, at least $0.0100 rolled up to /stats total)',
      'Subtasks: 3 (300 in / 30 out tokens, at least $0.0200 rolled up to /stats total)',
    ])
  })

  it('may have another model, which has no options of the agent', async () => {
    const { models, requests } = behaving(() => 'Fine.', { usage })
    const { world, agent } = idleWorld()
    world.patch(agent, Llm, { temperature: 0.5 })
    const { runner } = await running(world, { models })
    await runner.runSubtask(agent, { ...asked, model: 'scripted/tiny' })
    expect(requests).toMatchObject([{ model: 'tiny', options: {} }])
    expect(requests[0]?.options.temperature).toBeUndefined()
    expect(world.get(agent, Ledger)?.models).toMatchObject({ 'scripted/tiny': { calls: 1, ...usage } })
  })

  it('is called by what its agent may not call either', async () => {
    const { models, requests } = behaving(({ messages }) => (messages.length === 1 ? { toolCalls: [look2] } : 'Fine.'))
    let looked = 0
    const counted = tool('look', () => `${++looked}`)
    const { world, agent } = idleWorld({ tools: [counted] })
    world.add(agent, Permissions({ denied: ['look'] }))
    const { runner } = await running(world, { models, tools: [counted] })
    await runner.runSubtask(agent, { ...asked, tools: ['look'] })
    expect(looked).toBe(0)
    expect(JSON.stringify([...(requests[1]?.messages ?? [])])).toContain("tool 'look' is not permitted")
  })

  it('asks a person as its agent does, who may answer from above', async () => {
    const { models } = behaving(({ messages }) => (messages.length === 1 ? { toolCalls: [look2] } : 'Fine.'))
    let looked = 0
    const counted = tool('look', () => `${++looked}`, { approval: true })
    const { world, agent } = idleWorld({ tools: [counted] })
    // Nobody answers on a clock that jumps ahead of them.
    const clock = new VirtualClock({ auto: false })
    const { runner, next } = await running(world, { models, tools: [counted], clock, approve: 'by-input' })
    const requested = next('approval-requested')
    const result = runner.runSubtask(agent, { ...asked, tools: ['look'] })
    const { approval } = await requested
    expect(looked).toBe(0)
    await runner.post({ kind: 'answer', approval, approved: true })
    expect(await result).toMatchObject({ digest: 'Fine.' })
    expect(looked).toBe(1)
  })
})

describe('a subtask whose agent goes away', () => {
  it('is called off, and whoever waits for it is told', async () => {
    const { models } = behaving(() => 'Fine.', { latencyMs: 1e6 })
    const { world, agent } = idleWorld()
    const clock = new VirtualClock({ auto: false })
    const { runner, next } = await running(world, { models, clock })
    const called = next('model-called')
    const result = runner.runSubtask(agent, asked)
    await called
    await runner.change((changed) => changed.despawn(agent))
    expect(await result).toMatchObject({ digest: '[no digest]', failure: { kind: 'cancelled' } })
    await runner.idle()
    expect(world.query(SubtaskAccount)).toEqual([])
  })
})

describe('a subtask that cannot be', () => {
  const { models, requests } = behaving(() => 'Fine.')

  it.each([
    [{ name: undefined }, 'invalid-argument', 'name'],
    [{ name: ' ' }, 'invalid-argument', 'name'],
    [{ systemPrompt: '' }, 'invalid-argument', 'systemPrompt'],
    [{ userMessage: undefined }, 'invalid-argument', 'userMessage'],
    [{ tools: ['fly'] }, 'invalid-argument', "the agent has no tool 'fly'"],
    [{ tools: ['own'] }, 'invalid-argument', "'own' changes the World of the agent"],
    [{ maxSteps: 0 }, 'invalid-argument', 'maxSteps'],
    [{ timeoutMs: -1 }, 'invalid-argument', 'timeoutMs'],
    [{ maxTurns: 2 }, 'invalid-argument', 'maxTurns'],
    [{ model: 'nobody/x' }, 'unknown-provider', 'nobody'],
  ])('%j is refused before anything runs', async (change, code, message) => {
    const { world, agent } = idleWorld({ tools: [look] })
    const own = { ...look.declaration, name: 'own', world: true as const }
    world.set(agent, ToolRegistry, { tools: [look.declaration, own] })
    const { runner, told } = await running(world, { models, tools: [look] })
    const refusal = await rejection(runner.runSubtask(agent, { ...asked, ...change } as typeof asked))
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(message) })
    await runner.idle()
    expect(told('subtask-started')).toEqual([])
    expect(requests).toEqual([])
    expect(world.get(agent, SubtaskCount)).toBeUndefined()
  })

  it('an agent that is none is refused', async () => {
    const { world } = idleWorld()
    const { runner } = await running(world, { models })
    expect(await rejection(runner.runSubtask(99, asked))).toMatchObject({ code: 'invalid-argument' })
  })
})
