import { Conversation, type ScriptedBehaviour, SubagentRegistry, textOf } from 'entia'
import { Ledger, SubagentSession } from 'entia/components'
import { describe, expect, it } from 'vitest'
import { behaving, driven, worldWith } from '../turns/driving.ts'
import { tool } from '../turns/tools.ts'

const tools = [tool('read_file', () => 'text')]
const prices = { scripted: { input: 10, output: 0 } }

/** The lead sends a worker, who has a file read for it. */
const delegating: ScriptedBehaviour = ({ messages, model }) => {
  if (messages.at(-1)?.role !== 'user') return 'Done.'
  if (model === 'tiny') return { toolCalls: [{ name: 'read_file' }] }
  if (model === 'worker') return { toolCalls: [{ name: 'agentic_read_file', arguments: { request: 'What?' } }] }
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'worker', prompt: 'Work.' } }] }
}

/** A lead whose worker may spend so much, and all the models that were asked. */
async function worked(limits: { readonly costUsd?: number } = {}) {
  const config = { context: { agentic: { small_model: 'scripted/tiny' }, compaction: { enabled: false } } }
  const { world, agent } = worldWith({ tools, config })
  const worker = { name: 'worker', model: 'scripted/worker', tools: ['read_file'], limits }
  world.add(agent, SubagentRegistry({ subagents: { worker } }))
  const { models, requests } = behaving(delegating, { usage: { input: 1_000, output: 0 } })
  const made = driven(world, { models, tools, prices })
  await made.runner.start()
  await made.runner.idle()
  return { ...made, agent, asked: requests.map(({ model }) => model) }
}

describe('a subtask of a session', () => {
  it('is what the session has spent, and reaches the ledger of its parent with it', async () => {
    const { world, agent, asked, told } = await worked()
    expect(asked).toEqual(['x', 'worker', 'tiny', 'tiny', 'worker', 'x'])
    const ended = told('subtask-ended')
    expect(ended).toMatchObject([{ result: { digest: 'Done.', costUsd: 0.02 } }])
    const [session] = world.query(SubagentSession)
    const { sessionId, usage } = world.read(session ?? 0, SubagentSession)
    expect(ended[0]?.path).toEqual([sessionId])
    expect(ended[0]?.subtaskId).toBe(`${sessionId}:sub:agentic_read_file:1`)
    // Two calls of its own, two of the subtask.
    expect(usage).toMatchObject({ costNanoUsd: 40_000_000, delegatedTokens: 2_000 })
    expect(world.get(agent, Ledger)?.sessionNanoUsd).toBe(60_000_000)
    expect(textOf(world.read(agent, Conversation).at(-1))).toBe('Done.')
  })

  it('counts against what the session was granted', async () => {
    const { asked } = await worked({ costUsd: 0.03 })
    // One of its own, two of the subtask: nothing is left for another.
    expect(asked).toEqual(['x', 'worker', 'tiny', 'tiny', 'x'])
  })
})
