import 'entia/vitest'
import { agent, defineTool, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { simulate, type SimulateOptions } from 'entia/sim'
import { expect, it } from 'vitest'
import { z } from 'zod'

// A simulated run in a test of vitest: a lead asks a scout, who looks a word up, while processes crash.

const search = defineTool({
  name: 'search',
  description: 'Looks a word up.',
  input: z.object({ word: z.string() }),
  restart: 'pure',
  run: ({ word }) => `${word}: a bird of prey`,
})
const scout = scripted(({ messages }) => {
  const last = messages.at(-1)
  return last?.role === 'tool' ? textOf(last) : { toolCalls: [{ name: 'search', arguments: { word: 'erne' } }] }
})
const lead = scripted(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return 'An erne is a bird.'
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'scout', prompt: 'What is an erne?' } }] }
})

const story: SimulateOptions = {
  models: { lead, scout },
  tools: [search],
  world(seed) {
    const world = new World({ name: 'birds', seed, systems: standardSystems() })
    const subagents = { scout: { name: 'scout', model: 'scout/any', tools: ['search'] } }
    world.spawn(...agent({ model: 'lead/any', messages: 'What is an erne?' }), SubagentRegistry({ subagents }))
    return world
  },
  faults: { crash: { perTick: 0.1 } },
}

it('answers whatever crashes', async () => {
  const result = await simulate({ ...story, seed: 7 })
  expect(result).toHaveKeptLaws()
  expect(result).toHaveCalled('search', { word: 'erne' })
  expect(result).toHaveSession({ category: 'scout', status: 'succeeded' })
  expect(result).toHaveAnswered(/a bird/)
})
