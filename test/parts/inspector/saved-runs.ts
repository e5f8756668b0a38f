import { recordingOf } from '../../../src/engine/recording/recording.ts'
import {
  agent,
  defineTool,
  memoryStore,
  Runner,
  scripted,
  SessionPool,
  standardSystems,
  SubagentRegistry,
  World,
} from '../../../src/index.ts'
import { saveRecording } from '../../../src/sim/index.ts'
import { RunSource } from '../../../src/inspector/run-source.ts'
import type { RunFacts } from '../../../src/inspector/reading/wire.ts'
import type { SavedWorld } from '../../../src/engine/recording/recording.ts'
import { z } from 'zod'

export interface SavedRunOptions {
  readonly sessions?: number
  readonly steps?: number
  /** What the tool finds at a place. */
  readonly found?: (place: string) => string
  /** Where it is saved, besides. */
  readonly file?: string
}

/** The worlds of a run, the root first: a lead, and sessions that each look at so many places. */
export async function savedRun(options: SavedRunOptions = {}): Promise<readonly SavedWorld[]> {
  const { file, found = (place) => `${place} is there`, sessions = 2, steps = 4 } = options
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: z.object({ at: z.string() }),
    restart: 'pure',
    run: ({ at }) => found(at),
  })
  const world = new World({ name: 'search', seed: 9, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'lead/x', messages: 'Search.' }),
    SubagentRegistry({
      subagents: { scout: { name: 'scout', model: 'scout/x', tools: ['look'], maxSteps: steps + 2 } },
    }),
  )
  const store = memoryStore()
  const lead = scripted(({ messages }) => {
    if ([...messages].length > 1) return 'Found.'
    const prompts = Array.from({ length: sessions }, (_, index) => `Search area ${index + 1}.`)
    return { toolCalls: prompts.map((prompt) => ({ name: 'subagent', arguments: { category: 'scout', prompt } })) }
  })
  const scout = scripted(({ messages }) => {
    const seen = [...messages].filter(({ role }) => role === 'tool').length
    return seen >= steps ? 'Seen.' : { toolCalls: [{ name: 'look', arguments: { at: `place ${seen + 1}` } }] }
  })
  const sessionPool = new SessionPool()
  const runner = new Runner(world, { models: { lead, scout }, tools: [look], store, record: true, sessionPool })
  await runner.start()
  await runner.idle()
  await runner.stop()
  const { worlds } = await recordingOf(store, 'search')
  if (file !== undefined) await saveRecording(store, 'search', file)
  await store.close()
  return worlds
}

/** A saved run that broke a law in its first session. */
export async function brokenRun(): Promise<RunSource> {
  const worlds = await savedRun()
  const [root, first] = worlds as readonly [SavedWorld, SavedWorld]
  const run: RunFacts = {
    name: 'search',
    seed: 4_711,
    atMs: 48_211,
    laws: [
      { name: 'effects-settle-once', looks: 212 },
      { name: 'calls-answered-once', looks: 31, broken: true },
      { name: 'once-ran-once', looks: 0 },
    ],
    violation: {
      law: 'calls-answered-once',
      message: 'Call call-3-0 has 2 results.',
      world: first.name,
      tick: 4,
      atMs: 31_900,
    },
    faults: [
      { atMs: 812, name: 'model.rateLimited', world: first.name, tick: 2, facts: { at: 'scout model 1', ms: 400 } },
      { atMs: 31_899, name: 'crash.afterCommit', world: root.name, tick: 3, facts: { at: 'search commit 9' } },
    ],
    test: "it('breaks', async () => {\n  expect((await simulate({ seed: 4711 })).ok).toBe(true)\n})\n",
    canShrink: true,
  }
  return new RunSource({ title: 'failure.json', worlds, run })
}
