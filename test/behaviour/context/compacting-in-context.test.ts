import {
  agent,
  fail,
  LastTurn,
  memoryStore,
  type ModelRequest,
  recordingOf,
  replay,
  standardSystems,
  textOf,
  World,
} from 'entia'
import { type Checkpointer, type CompactionView, type Compactor, contextStats } from 'entia/context'
import { project } from 'entia/models'
import * as components from 'entia/components'
import { Blueprint, Ceilings, CompactionPending, CostCeiling, Ledger, SideCall, Summarizing } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { call, calls, delegate, stepwise, taskOf, team } from '../sessions/team.ts'
import { gate, mortal, reopened, turns } from '../turns/driving.ts'
import {
  at,
  boundaries,
  covering,
  frontier,
  full,
  handover,
  isSideCall,
  living,
  speaking,
  tailOf,
  textsOf,
} from './long-lives.ts'
import { tool } from '../turns/tools.ts'

describe('what is still so when a conversation is compacted', () => {
  it('stands in the tail, and goes when it is over: sessions that run, and questions that are open', async () => {
    const agreed = gate()
    const send = tool('send', () => 'sent', { approval: true })
    const worker = { first: gate(), second: gate() }
    const made = team({
      agent: { tools: [send], config: {} },
      runner: {
        tools: [send],
        approve: async () => {
          await agreed.promise
          return true
        },
      },
      lead: async (request) => {
        if (isSideCall(request)) return handover
        const said = textOf(request.messages.at(-1))
        if (said === 'Go')
          return calls(delegate('a', { background: true }), delegate('b', { background: true, prompt: 'Dig\ndeep' }))
        if (said === 'Send it') return calls(call('c', 'send'))
        return 'Well.'
      },
      worker: async (request) => {
        await (taskOf(request) === 'Look' ? worker.first : worker.second).promise
        return 'Found.'
      },
    })
    const { lead, runner, world } = made
    await runner.start()
    await turns(20)
    await runner.compact(lead)
    await runner.message(lead, 'Send it')
    await turns(20)
    const rows = (): string[] => tailOf(project(world, lead)).split('\n').slice(2)
    const [first, second] = made.sessions().map(({ sessionId }) => sessionId)
    const approval = made.told('approval-requested')[0]?.approval
    expect(rows()).toEqual([
      `- session ${first} (researcher): running, Look`,
      `- session ${second} (researcher): running, Dig`,
      `- approval ${approval}: send, waiting for a person`,
    ])
    worker.first.resolve()
    await turns(20)
    expect(rows()).toEqual([
      `- session ${second} (researcher): running, Dig`,
      `- approval ${approval}: send, waiting for a person`,
    ])
    expect(boundaries(world, lead)).toHaveLength(1)
    for (const one of [agreed, worker.second]) one.resolve()
    await runner.idle()
    expect(rows()).toEqual([])
  })
})

describe('a turn that is archived while a compaction is pending', () => {
  it('leaves nothing to compact for, and the next call shows what it was worth', async () => {
    const config = {
      subagents: { enabled: true },
      archival: { enabled: true, trigger: { tokenThreshold: 1 }, summary: { style: 'paragraph' as const } },
    }
    const {
      agent: speaker,
      say,
      summaries,
      steps,
      told,
      world,
    } = await living({
      config,
      usage: (step) => (step === 1 ? full : at(20)),
    })
    const asked = (): ModelRequest | undefined => steps.find((request) => textsOf(request).at(-1) === 'Two')
    await say('One')
    expect(told('turn-archived')).toHaveLength(1)
    expect(world.has(speaker, CompactionPending)).toBe(false)
    await say('Two')
    expect([summaries.length, boundaries(world, speaker).length]).toEqual([0, 0])
    expect(textsOf(asked()!)[3]).toMatch(/^\[archived turn\]/)
    expect(told('context-rewritten')).toMatchObject([{ kind: 'archival', tokensBefore: 850_000, tokensAfter: 20 }])
  })
})

describe('the calls of others', () => {
  it('do not fill an agent’s window: a subtask on a smaller one is not looked at', async () => {
    const small = 'scripted/small'
    const {
      agent: speaker,
      runner,
      say,
      summaries,
      told,
    } = await living({
      usage: (step) => at(step === 2 ? 95 : 100_000),
      runner: { prices: { [frontier]: { contextWindow: 1_000_000 }, [small]: { contextWindow: 100 } } },
    })
    await say('One')
    await runner.runSubtask(speaker, { name: 'x', systemPrompt: 'Be', userMessage: 'Go', tools: [], model: small })
    await say('Two')
    await say('Three')
    expect([summaries.length, told('summary-started').length]).toEqual([0, 0])
  })
})

describe('an agent of a Context', () => {
  it('says why nothing is compacted of its own accord', async () => {
    const unknown = await living({ contextWindow: null, usage: () => at(999_999) })
    expect(contextStats(unknown.world, unknown.agent).window).toMatchObject({ automatic: false, reason: 'no-own-call' })
    await unknown.say('One')
    expect(contextStats(unknown.world, unknown.agent).window).toMatchObject({
      automatic: false,
      reason: 'unknown-window',
    })
    const failing = await living({ usage: () => full, summary: () => fail('refused') })
    await failing.say('One')
    expect(contextStats(failing.world, failing.agent).window).toMatchObject({ automatic: true })
    await failing.say('Two')
    expect(contextStats(failing.world, failing.agent).window).toMatchObject({ automatic: false, reason: 'back-off' })
  })

  it('that has reached its ceiling makes no summary: who asks for one is told so', async () => {
    const {
      agent: spender,
      runner,
      say,
      summaries,
      world,
    } = await living({
      config: { ceilings: { maxSessionCostUsd: 1 } },
      runner: { prices: { [frontier]: { contextWindow: 1_000_000, input: 1, output: 1 } } },
      usage: () => full,
    })
    await runner.change(() => world.patch(spender, Ceilings, { maxSessionCostUsd: 0.5 }))
    await say('One')
    expect(world.has(spender, CostCeiling)).toBe(true)
    expect(await runner.compact(spender)).toMatchObject({ skipped: false, failure: { kind: 'budget-spent' } })
    expect(await runner.checkpoint(spender)).toMatchObject({ skipped: false, failure: { kind: 'budget-spent' } })
    expect(summaries).toEqual([])
  })
})

describe('a session', () => {
  it.each(['researcher', 'fork'])('compacts as its parent does, and begins afresh: a %s', async (category) => {
    const config = { context: { compaction: { threshold: 0.5 } } }
    const look = tool('look', () => 'a tree')
    const isChild = (request: Parameters<typeof textsOf>[0]): boolean =>
      textsOf(request).some((text) => text.includes('Directive: Look') || text === 'Look')
    const both = stepwise(calls(call('x', 'look')), 'Scope: all of it')
    const made = team({
      subagents: { researcher: { model: 'lead/x', inheritancePolicy: { inheritTools: ['look'] } } },
      agent: { tools: [look], config },
      runner: { tools: [look], prices: { 'lead/x': { contextWindow: 1_000 } } },
      leadOptions: { usage: (request) => (isChild(request) ? { input: 960, output: 1 } : { input: 10, output: 1 }) },
      lead: (request, context) => {
        if (isSideCall(request)) return handover
        if (textsOf(request)[0]?.startsWith('[Conversation compacted')) return 'Scope: all of it'
        if (!isChild(request)) return stepwise(calls(delegate('a', { category, background: true })))(request, context)
        return textsOf(request).includes('a tree')
          ? 'Scope: all of it'
          : category === 'fork'
            ? calls(call('x', 'look'))
            : both(request, context)
      },
    })
    await made.run()
    const [session] = made.sessions()
    const inChild = made.events.filter(({ type, ...event }) => type === 'boundary-written' && 'path' in event)
    expect(inChild).toMatchObject([{ path: [session?.sessionId], kind: 'summary', by: 'auto' }])
    expect(boundaries(made.world, made.lead)).toEqual([])
    expect(session?.status).toBe('succeeded')
  })

  it('of an agent without a Context is made of the same as ever', async () => {
    const found = gate()
    const worker = () => found.promise.then(() => 'Found.')
    const made = team({ lead: stepwise(calls(delegate('a', { background: true }))), worker })
    await made.runner.start()
    await turns(20)
    const [blueprint] = made.world.query(Blueprint).map((entity) => made.world.read(entity, Blueprint))
    expect(Object.keys(blueprint ?? {})).not.toContain('context')
    expect(Object.keys(blueprint ?? {})).not.toContain('archival')
    found.resolve()
    await made.runner.idle()
    expect(made.sessions()[0]?.status).toBe('succeeded')
  })
})

describe('a process that ends while a summary is written', () => {
  it('leaves the call to be made again, and nothing half done', async () => {
    const store = memoryStore()
    const opened = gate()
    const never = speaking({ usage: () => full, summary: () => opened.promise.then(() => 'too late') })
    const prices = { [frontier]: { contextWindow: 1_000_000 } }
    const world = new World({ systems: standardSystems() })
    const speaker = world.spawn(...agent({ model: frontier, messages: 'One', config: {} }))
    const first = mortal(world, { store, models: never.models, prices })
    await first.runner.start()
    await first.runner.idle()
    await first.runner.message(speaker, 'Two')
    await turns(10)
    expect([never.summaries.length, world.has(speaker, Summarizing)]).toEqual([1, true])
    await first.runner.stop()
    opened.resolve()

    const again = speaking({ usage: () => at(10) })
    const second = await reopened(store, { models: again.models, prices })
    expect([second.world.has(speaker, Summarizing), second.world.query(SideCall).length]).toEqual([true, 1])
    await second.runner.start()
    await second.runner.idle()
    expect([again.summaries.length, again.steps.length]).toEqual([1, 1])
    expect(textsOf(again.steps[0]!)).toEqual([covering(handover), 'Two'])
    expect(boundaries(second.world, speaker)).toHaveLength(1)
    expect(second.world.read(speaker, Ledger).models[frontier]?.calls).toBe(3)
    expect(second.world.get(speaker, LastTurn)).toMatchObject({ stop: 'done', steps: 1 })
  })
})

describe('a run that was recorded', () => {
  it('is made again with its compactions and checkpoints, and no model is called', async () => {
    const store = memoryStore()
    const {
      agent: speaker,
      runner,
      say,
      steps,
      summaries,
      world,
    } = await living({
      usage: () => full,
      runner: { store, record: true },
    })
    await say('One')
    await say('Two')
    await runner.checkpoint(speaker, { note: 'done' })
    await say('Three')
    await runner.stop()
    const calls = steps.length + summaries.length
    const again = replay(await recordingOf(store, 'world'), { systems: standardSystems(), components })
    expect([again.difference, again.hash]).toEqual([undefined, world.hash()])
    expect(boundaries(again.world, speaker).map(({ kind }) => kind)).toEqual(['summary', 'checkpoint'])
    expect(steps.length + summaries.length).toBe(calls)
  })
})

describe('a compactor of a program’s own', () => {
  it('decides by the same view, and asks in its own words', async () => {
    const views: CompactionView[] = []
    const compactor: Partial<Compactor> = {
      should: (view) => {
        views.push(view)
        return view.moment === 'turn-end' && (view.promptTokens ?? 0) > 10
      },
      prompt: ({ messages }) => ({ system: 'You write handovers.', ask: `Sum up ${messages}.`, headings: ['# A'] }),
    }
    const { agent: speaker, say, summaries, world } = await living({ systems: { compactor }, usage: () => at(11) })
    await say('One')
    await say('Two')
    expect(textsOf(summaries[0]!)[0]?.startsWith('Sum up 4.\n\n## user\nHello')).toBe(true)
    expect(boundaries(world, speaker)).toMatchObject([{ missingHeadings: ['# A'] }])
    expect(views[0]).toEqual({
      contextWindow: 1_000_000,
      fullness: 0.000011,
      midTurn: 0.95,
      model: frontier,
      moment: 'turn-end',
      promptTokens: 11,
      threshold: { value: 0.85, source: 'tier' },
      tier: 'frontier',
    })
  })

  it('is asked about the midst of a turn before further steps of it, and not before the first', async () => {
    const look = tool('look', () => 'a tree')
    const compactor = { should: ({ moment }: CompactionView) => moment === 'mid-turn' }
    const { say, summaries } = await living({
      systems: { compactor },
      agent: { tools: [look] },
      runner: { tools: [look] },
      usage: () => at(11),
      answer: ({ messages }) => (textOf(messages.at(-1)) === 'Look' ? { toolCalls: [{ name: 'look' }] } : 'Well.'),
    })
    await say('One')
    await say('Two')
    expect(summaries).toHaveLength(0)
    await say('Look')
    expect(summaries).toHaveLength(1)
  })

  it('has no say where the window is not known, or compaction is off', async () => {
    const compactor = { should: () => true }
    const off = { context: { compaction: { enabled: false } } }
    for (const options of [{ contextWindow: null }, { config: off }]) {
      const { say, summaries } = await living({ systems: { compactor }, usage: () => at(11), ...options })
      await say('One')
      await say('Two')
      expect(summaries).toEqual([])
    }
  })
})

describe('a checkpointer of a program’s own', () => {
  it('can close tasks of its own accord, in its own words', async () => {
    const checkpointer: Partial<Checkpointer> = {
      should: ({ isPending, messages }) => !isPending && messages >= 4,
      prompt: () => ({ system: 'You keep records.', ask: 'Record.' }),
    }
    const { agent: speaker, say, summaries, world } = await living({ systems: { checkpointer } })
    await say('One')
    await say('Two')
    expect(summaries).toHaveLength(1)
    expect(boundaries(world, speaker)).toMatchObject([{ kind: 'checkpoint', by: 'auto', seq: 4, missingHeadings: [] }])
  })

  it('has no say where checkpoints are switched off', async () => {
    const config = { context: { checkpoint: { enabled: false } } }
    const { say, summaries } = await living({ config, systems: { checkpointer: { should: () => true } } })
    await say('One')
    expect(summaries).toEqual([])
  })

  it.each([
    [{ compactor: 5 }],
    [{ compactor: { shall: () => true } }],
    [{ checkpointer: { should: true } }],
    [
      {
        compactor: new (class {
          should = 1
        })(),
      },
    ],
  ])('is a plain object of functions; came %j', (options: object) => {
    expect(() => standardSystems(options)).toThrow(/expected \{ should\?\(view\), prompt\?\(view\) \}/)
  })
})
