import {
  agent,
  Conversation,
  defineTool,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  type Store,
  textOf,
  VirtualClock,
  World,
} from 'entia'
import { Archival, Archive, ArchiveJob, HolderDraft } from 'entia/components'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cuttingStore, type Place, places } from './cutting-store.ts'
import { expectValid } from './expect-valid.ts'

const name = 'long'
const lead = 1
const turns = ['one', 'two', 'three']
const messagesOfTurn = 12

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  restart: 'pure',
  run: ({ at }) => `Seen: ${at}`,
})

const summary = JSON.stringify({
  outcome: 'Looked.',
  key_findings: [],
  files_touched: [],
  tools_used: ['look'],
  open_questions: [],
})

/** Each turn has five calls; a summary is right at the second try. */
const model = scripted(
  ({ messages }) => {
    const all = [...messages]
    if (textOf(all[0]).startsWith('Summarize')) return all.length === 1 ? 'No JSON.' : summary
    const turn = all.slice(all.findLastIndex(({ role }) => role === 'user'))
    const calls = turn.filter(({ role }) => role === 'tool').length
    if (calls === 5) return `Did ${textOf(turn[0])}.`
    return { toolCalls: [{ id: `${textOf(turn[0])}-${calls}`, name: 'look', arguments: { at: `${calls}` } }] }
  },
  { latencyMs: 20 },
)

function makeWorld(): World {
  const world = new World({ name, seed: 1, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'long/model', system: 'You look.', tools: [look] }),
    Archival({ enabled: true, trigger: { tokenThreshold: null } }),
  )
  return world
}

async function started(store: Store): Promise<{ runner: Runner; clock: VirtualClock }> {
  const clock = new VirtualClock()
  const runner = await Runner.open({
    store,
    name,
    systems: standardSystems(),
    components,
    create: makeWorld,
    models: { long: model },
    tools: [look],
    clock,
  })
  return { runner, clock }
}

/** Says all that there is to say, each thing once in the life of the world. */
async function talk(runner: Runner): Promise<void> {
  await runner.start()
  for (const text of turns) {
    await runner.message(lead, text, { id: text })
    await runner.idle()
  }
}

async function undisturbed(): Promise<{ world: World; store: Store; commits: number }> {
  const counting = cuttingStore(memoryStore(), Infinity, 'before the commit', () => Promise.resolve())
  const { runner } = await started(counting.store)
  await talk(runner)
  await runner.stop()
  return { world: runner.world, store: counting.store, commits: counting.commits() }
}

async function cut(at: number, place: Place): Promise<{ world: World; store: Store }> {
  const inner = memoryStore()
  const clocks: VirtualClock[] = []
  const settleEffects = async (): Promise<void> => {
    for (let round = 0; round < 5; round++) {
      for (const clock of clocks) clock.advance(1_000)
      await new Promise(setImmediate)
    }
  }
  const dying = cuttingStore(inner, at, place, settleEffects)
  const first = await started(dying.store)
  clocks.push(first.clock)
  void talk(first.runner).then(dying.kill)
  await dying.dead
  const { runner } = await started(inner)
  await talk(runner)
  await runner.stop()
  return { world: runner.world, store: inner }
}

/** What is in a transcript, line by line, without times. */
async function linesIn(store: Store, key: string): Promise<readonly string[]> {
  const lines = (await store.transcript(name, key)) ?? []
  return lines.map((line) => JSON.stringify({ ...(JSON.parse(line) as object), at: 0, createdAt: 0 }))
}

describe('a run of three heavy turns', async () => {
  const whole = await undisturbed()

  it('is archived turn by turn', () => {
    expect(whole.world.read(lead, Archive).map(({ status, summary: how }) => [status, how])).toEqual(
      turns.map(() => ['archived', 'repaired']),
    )
    expect(whole.commits).toBeGreaterThan(50)
  })

  describe.each(places)('that is cut off %s', (place) => {
    it(
      'is archived once each, whatever the tick, with no line twice and no holder left over',
      { timeout: 120_000 },
      async () => {
        const key = `agents/agent-${lead}/sessions/${name}.jsonl`
        const own = await linesIn(whole.store, key)
        for (let at = 1; at <= whole.commits + 1; at++) {
          const where = `cut ${place} ${at}`
          const { world, store } = await cut(at, place)
          const entries = world.read(lead, Archive)
          expect(
            entries.map(({ status }) => status),
            where,
          ).toEqual(turns.map(() => 'archived'))
          const ids = entries.map(({ subagentId }) => subagentId)
          expect(new Set(ids).size, where).toBe(turns.length)
          expectValid(world.read(lead, Conversation))
          expect(
            world.read(lead, Conversation).map(({ role }) => role),
            where,
          ).toEqual(turns.flatMap(() => ['user', 'assistant']))
          expect((await store.list()).map((info) => info.name).toSorted(), where).toEqual([name, ...ids].toSorted())
          expect(await linesIn(store, key), where).toEqual(own)
          for (const id of ids) {
            const held = await linesIn(store, `agents/subagent-${id}/sessions/${id}.jsonl`)
            expect(held, where).toHaveLength(messagesOfTurn + 2)
            expect(held, where).toEqual(await linesIn(whole.store, `agents/subagent-${id}/sessions/${id}.jsonl`))
          }
          expect(world.query(ArchiveJob), where).toEqual([])
          expect(world.query(HolderDraft), where).toEqual([])
          expect(world.hash({ stable: true }), where).toBe(whole.world.hash({ stable: true }))
        }
      },
    )
  })
})
