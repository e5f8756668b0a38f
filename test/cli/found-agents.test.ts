import { describe, expect, it } from 'vitest'
import { answeredOf, foundTree } from '../../src/cli/found-agents.ts'
import { tool } from '../behaviour/turns/tools.ts'
import {
  agent,
  memoryStore,
  Runner,
  type ScriptedBehaviour,
  scripted,
  SessionPool,
  standardSystems,
  SubagentRegistry,
  textOf,
  VirtualClock,
  World,
} from '../../src/index.ts'

const usage = { input: 10, output: 1 }

/** Each hands its task on to one below it, until the task is to stop. */
const chain: ScriptedBehaviour = ({ messages }) => {
  const task = textOf([...messages].find(({ role }) => role === 'user'))
  const last = messages.at(-1)
  if (last?.role === 'tool') return { text: `${task}: ${textOf(last)}`, usage }
  const next = { lead: 'middle', middle: 'bottom' }[task]
  if (next === undefined) return { text: 'found', usage }
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'researcher', prompt: next } }], usage }
}

describe('a tree of sessions that is found in a store', () => {
  it('has sessions of sessions, each with what it has used, and totals over all of them', async () => {
    const store = memoryStore()
    const world = new World({ name: 'ask-1', systems: standardSystems() })
    const researcher = { name: 'researcher', inheritancePolicy: { inheritTools: ['subagent'] } }
    const lead = world.spawn(
      ...agent({ model: 'chain/x', messages: 'lead' }),
      SubagentRegistry({ subagents: { researcher } }),
    )
    const parts = {
      store,
      clock: new VirtualClock(),
      models: { chain: scripted(chain) },
      sessionPool: new SessionPool(),
    }
    const runner = new Runner(world, parts)
    await runner.start()
    await runner.idle()
    await runner.stop()

    const found = await foundTree(store, world, lead)
    expect(found.lead).toMatchObject({ steps: 2, modelCalls: 2, toolCalls: 1, usage: { input: 20, output: 2 } })
    expect(found.tree).toMatchObject([
      { name: 'middle', status: 'succeeded', path: [expect.any(String)], modelCalls: 2, toolCalls: 1 },
      { name: 'bottom', status: 'succeeded', path: [found.tree[0]?.path[0], expect.any(String)], modelCalls: 1 },
    ])
    expect(found.totals).toMatchObject({
      ...{ sessions: 2, modelCalls: 5, toolCalls: 2 },
      usage: { input: 50, output: 5 },
    })
  })

  it('has calls that have ended behind one that is under way among the answered ones, and not among the open ones', async () => {
    const store = memoryStore()
    const world = new World({ name: 'ask-1', systems: standardSystems() })
    const tools = [tool('slow', () => new Promise(() => undefined)), tool('quick', () => 'quick')]
    const lead = world.spawn(...agent({ model: 'two/x', messages: 'lead', tools }))
    const models = { two: scripted(() => ({ toolCalls: [{ name: 'slow' }, { name: 'quick' }] })) }
    const runner = new Runner(world, { store, models, tools, clock: new VirtualClock() })
    const answered = new Promise((resolve) => void runner.on('tool-answered', resolve))
    await runner.start()
    await answered
    await runner.stop({ onceMs: 0 })
    expect((await foundTree(store, world, lead)).lead).toMatchObject({ toolCalls: 1, open: [{ tool: 'slow' }] })
    expect(answeredOf(world, lead)).toMatchObject([{ tool: 'quick', text: 'quick', isError: false }])
  })
})
