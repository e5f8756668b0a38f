import { Conversation, type Entity, memoryStore, SubagentRegistry, textOf, type World } from 'entia'
import { HolderOf, InstalledTools, ToolRegistry } from 'entia/components'
import { Archival, Context, contextReport, contextStats } from 'entia/context'
import { querySubagentDeclaration } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { archiving, callsInTurn, lastUser, looking } from './archiving.ts'
import { behaving, driven, gate, reopened, worldWith } from '../turns/driving.ts'
import { living } from './long-lives.ts'

function toolsOf(world: World, agent: Entity): string[] {
  return world.read(agent, ToolRegistry).tools.map(({ name }) => name)
}

describe('a feature that is switched off in a living world', () => {
  it('takes its tools along, and leaves those of the agent', async () => {
    const made = archiving({ parts: [Context({})] })
    await made.runner.start()
    await made.say('first')
    expect(toolsOf(made.world, made.agent)).toEqual([
      'look',
      'query_subagent',
      'spawn_subagent',
      'recall',
      'mark_task_done',
    ])
    await made.runner.change((world) => world.remove(made.agent, Archival))
    await made.say('second')
    expect(toolsOf(made.world, made.agent)).toEqual(['look', 'recall', 'mark_task_done'])
    await made.runner.change((world) => world.remove(made.agent, Context))
    await made.say('third')
    expect(toolsOf(made.world, made.agent)).toEqual(['look'])
    expect(made.world.has(made.agent, InstalledTools)).toBe(false)
    expect(
      made
        .asked('work')
        .at(-1)
        ?.request.tools.map(({ name }) => name),
    ).toEqual(['look'])
  })

  it('takes them along after a restart as well', async () => {
    const store = memoryStore()
    const made = archiving({ runner: { store }, isMortal: true })
    await made.runner.start()
    await made.say('first')
    await made.runner.stop()
    const again = await reopened(store, made.options)
    await again.runner.start()
    await again.runner.change((world) => world.remove(made.agent, Archival))
    await again.runner.message(made.agent, 'second')
    await again.runner.idle()
    expect(toolsOf(again.world, made.agent)).toEqual(['look'])
  })

  it('leaves a tool that a program had given the agent itself', async () => {
    const made = archiving({ work: looking(1) })
    made.world.patch(made.agent, ToolRegistry, {
      tools: [...made.world.read(made.agent, ToolRegistry).tools, querySubagentDeclaration],
    })
    await made.runner.start()
    await made.say('first')
    expect(toolsOf(made.world, made.agent)).toEqual(['look', 'query_subagent', 'spawn_subagent', 'recall'])
    await made.runner.change((world) => world.remove(made.agent, Archival))
    await made.say('second')
    expect(toolsOf(made.world, made.agent)).toEqual(['look', 'query_subagent'])
  })

  it('is gone for a model that was thinking meanwhile', async () => {
    const made = archiving({
      work: (request) => {
        if (callsInTurn(request) > 0 || lastUser(request) !== 'recall') return 'Done.'
        return { toolCalls: [{ id: 'r', name: 'recall', arguments: { query: 'first' } }] }
      },
      model: { latencyMs: 1_000 },
    })
    await made.runner.start()
    await made.say('first')
    const called = made.next('model-called')
    await made.runner.message(made.agent, 'recall')
    await called
    await made.runner.change((world) => world.remove(made.agent, Archival))
    await made.runner.idle()
    expect(textOf([...made.messages()].findLast(({ role }) => role === 'tool'))).toBe(
      'Error: there is no tool named recall.',
    )
  })

  it('keeps tools and block while there are holders to be asked, if it is only set to enabled: false', async () => {
    const made = archiving()
    await made.runner.start()
    await made.say('first')
    await made.runner.change((world) => world.patch(made.agent, Archival, { enabled: false }))
    await made.say('second')
    expect(made.world.isReferred(HolderOf, made.agent)).toBe(true)
    expect(toolsOf(made.world, made.agent)).toEqual(['look', 'query_subagent', 'spawn_subagent', 'recall'])
    expect(textOf([...(made.asked('work').at(-1)?.request.tail ?? [])].at(-1))).toContain('# Live Subagents')
  })

  it('takes the tools for delegation along, also while the model asks for one of them', async () => {
    const { world, agent } = worldWith()
    world.set(agent, SubagentRegistry, { subagents: {} })
    const delegates = { toolCalls: [{ name: 'subagent', arguments: { category: 'fork', prompt: 'Look.' } }] }
    const { models, requests } = behaving(({ messages }) => (messages.length === 3 ? delegates : 'Done.'), {
      latencyMs: 1_000,
    })
    const made = driven(world, { models })
    await made.runner.start()
    await made.runner.idle()
    expect(toolsOf(world, agent)).toContain('subagent')
    const called = made.next('model-called')
    await made.runner.message(agent, 'Delegate.')
    await called
    await made.runner.change(() => world.remove(agent, SubagentRegistry))
    await made.runner.idle()
    expect(textOf([...world.read(agent, Conversation)].findLast(({ role }) => role === 'tool'))).toBe(
      'Error: there is no tool named subagent.',
    )
    expect(requests.at(-1)?.tools).toEqual([])
    expect(made.told('delegation-started')).toEqual([])
  })

  it('answers the programs that wait for a text of it', async () => {
    const thinking = gate<string>()
    const life = await living({ answer: () => thinking.promise })
    const called = life.next('model-called')
    await life.runner.message(life.agent, 'Hello')
    await called
    const asked = [life.runner.compact(life.agent), life.runner.checkpoint(life.agent)]
    await life.runner.change((world) => world.remove(life.agent, Context))
    const failure = { kind: 'cancelled', message: expect.stringContaining('Context') as string }
    thinking.resolve('Well.')
    expect(await Promise.all(asked)).toEqual([
      { skipped: false, failure },
      { skipped: false, failure },
    ])
    await life.runner.idle()
    expect(life.summaries).toEqual([])
  })
})

describe('the report of an agent', () => {
  it('says after a collapse that the conversation was rewritten, and how large the window is', async () => {
    const made = archiving({ parts: [Context({})], runner: { prices: { 'scripted/x': { contextWindow: 10_000 } } } })
    await made.runner.start()
    await made.say('first')
    expect(made.archive()).toMatchObject([{ status: 'archived' }])
    const stats = contextStats(made.world, made.agent)
    expect(stats.window).toMatchObject({ tokens: 10_000, reason: 'rewritten' })
    const report = contextReport(stats, 0)
    expect(report).toContain('10000 tokens, compacts at 85% (default), no call since the conversation was rewritten')
    expect(report).toContain('Archived: 1 turn (0 waiting, 0 failed)')
  })
})
