import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  agent,
  memoryStore,
  type ModelProvider,
  Runner,
  scripted,
  replay,
  standardSystems,
  VirtualClock,
  World,
} from 'entia'
import * as components from 'entia/components'
import { SubtaskCount } from 'entia/components'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadRecording, saveRecording, simulate } from '../../src/sim/index.ts'
import { tool } from '../behaviour/turns/tools.ts'

const nobody: ModelProvider = {
  retry: false,
  call: () => {
    throw new Error('A model was called.')
  },
}

function reader(seed: number, ceilings: object): World {
  const world = new World({ name: 'reader', seed, systems: standardSystems() })
  const config = { context: { agentic: { small_model: 'small/y' } }, ...ceilings }
  world.spawn(...agent({ model: 'lead/x', tools, messages: 'Read.', config }))
  return world
}

const tools = ['read_file', 'grep_files', 'list_files'].map((name) => tool(name, ({ sleep }) => sleep(70)))
const usage = { input: 1_000, output: 0 }
const models = {
  lead: scripted(
    ({ messages }) => {
      const isAsked = messages.at(-1)?.role === 'user'
      const asked = { name: 'agentic_research', arguments: { request: 'What?' } }
      return isAsked ? { toolCalls: [asked, { ...asked, arguments: { request: 'Who?' } }] } : 'Done.'
    },
    { latencyMs: 300, retry: false },
  ),
  small: scripted(({ messages }) => (messages.length < 5 ? { toolCalls: [{ name: 'read_file' }] } : 'A digest.'), {
    latencyMs: [100, 900],
    retry: false,
    usage,
  }),
}

describe('a recording with subtasks in it', () => {
  it.each([
    ['nothing', {}],
    ['ceilings that are far', { ceilings: { max_session_cost_usd: 10 } }],
    ['ceilings that are met', { ceilings: { max_turn_cost_usd: 0.025 } }],
  ])('is replayed with nobody called, under %s', async (_, ceilings) => {
    const folder = await mkdtemp(join(tmpdir(), 'entia-recording-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const store = memoryStore()
    const prices = { small: { input: 10, output: 0 }, lead: { input: 0, output: 0 } }
    const clock = new VirtualClock({ dateMs: 1_000 })
    const runner = new Runner(reader(7, ceilings), { models, tools, store, record: true, clock, prices })
    await runner.start()
    await runner.idle()
    await runner.stop()
    expect(runner.world.get(1, SubtaskCount)).toMatchObject({ ended: 2 })
    const file = join(folder, 'reader.entia')
    await saveRecording(store, 'reader', file)
    const saved = await loadRecording(file)
    expect(
      replay(saved, { systems: standardSystems(), components }).worlds.find(
        ({ difference }) => difference !== undefined,
      ),
    ).toBeUndefined()
    const result = await simulate({
      recording: saved,
      world: (seed) => reader(seed, ceilings),
      models: { lead: nobody, small: nobody },
      tools: tools.map(({ declaration }) => ({
        declaration,
        call: () => {
          throw new Error('A tool ran.')
        },
      })),
      prices,
    })
    expect(result.violation).toBeUndefined()
    expect(result.missed).toEqual([])
    expect(result.hash).toBe(runner.world.hash())
  })
})
