import {
  agent,
  defineTool,
  type Entity,
  fail,
  LastTurn,
  memoryStore,
  Runner,
  scripted,
  standardSystems,
  type Store,
  Usage,
  VirtualClock,
  World,
  Conversation,
} from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cuttingStore, type Place, places } from './cutting-store.ts'
import { expectValid } from './expect-valid.ts'

const name = 'golden'
/** Rounds of tool calls that each agent goes through. */
const rounds = 4

/** What happened outside the world, where nothing can be taken back. */
interface Outside {
  readonly sent: string[]
  readonly modelCalls: { count: number }
}

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  input: z.object({ word: z.string() }),
  restart: 'pure',
  run: async ({ word }, { sleep }) => {
    await sleep(word.length * 10)
    return `${word} means ${word.toUpperCase()}`
  },
})

function keyed(outside: Outside) {
  return defineTool({
    name: 'book',
    description: 'Books a seat, once a key.',
    input: z.object({ seat: z.number() }),
    restart: 'keyed',
    run: async ({ seat }, { key, sleep }) => {
      await sleep(15)
      if (!outside.sent.includes(`book ${key}`)) outside.sent.push(`book ${key}`)
      return `seat ${seat} is booked`
    },
  })
}

function once(outside: Outside) {
  return defineTool({
    name: 'send',
    description: 'Sends a letter.',
    input: z.object({ letter: z.string() }),
    restart: 'once',
    approval: true,
    run: async ({ letter }, { sleep }) => {
      outside.sent.push(letter)
      await sleep(25)
      return `sent ${letter}`
    },
  })
}

/** Works through its rounds: each has parallel calls of every restart class. It decides from the request alone. */
function behaviour(outside: Outside) {
  return scripted(
    ({ messages }, { attempt }) => {
      outside.modelCalls.count++
      const round = messages.filter((message) => message.role === 'assistant').length
      if (round % 2 === 1 && attempt === 1) return fail('overloaded')
      if (round >= rounds) return `done after ${messages.length} messages`
      const who = JSON.stringify(messages.at(0))
      return {
        text: `round ${round}`,
        toolCalls: [
          { name: 'look_up', arguments: { word: 'a'.repeat(5 - round) } },
          { name: 'send', arguments: { letter: `${who} ${round}` } },
          { name: 'book', arguments: { seat: round } },
          { name: 'no_such_tool', arguments: {} },
        ],
      }
    },
    { latencyMs: [20, 200], retry: { maxAttempts: 3, firstDelayMs: 4_000, maxDelayMs: 60_000, kinds: ['overloaded'] } },
  )
}

function makeWorld(outside: Outside): World {
  const tools = [lookUp, once(outside), keyed(outside)]
  const world = new World({ name, seed: 1, systems: standardSystems() })
  for (const task of ['one', 'two']) {
    world.spawn(...agent({ model: 'golden/model', system: 'You have ${_installed_tools}', tools, messages: task }))
  }
  return world
}

async function startRunner(store: Store, outside: Outside): Promise<{ runner: Runner; clock: VirtualClock }> {
  const clock = new VirtualClock()
  const runner = await Runner.open({
    store,
    name,
    systems: standardSystems(),
    components,
    create: () => makeWorld(outside),
    models: { golden: behaviour(outside) },
    tools: [lookUp, once(outside), keyed(outside)],
    approve: () => true,
    clock,
  })
  return { runner, clock }
}

async function turnsOfTheLoop(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

function nobody(): Outside {
  return { sent: [], modelCalls: { count: 0 } }
}

/** Runs to the end without any accident. */
async function undisturbed(): Promise<{ world: World; outside: Outside; ticks: number }> {
  const outside = nobody()
  const { runner } = await startRunner(memoryStore(), outside)
  await runner.start()
  await runner.idle()
  const { ticks } = runner.stats
  await runner.stop()
  return { world: runner.world, outside, ticks }
}

/** Runs, dies at one commit, is restored from what is in the store, and runs to the end. */
async function cut(at: number, place: Place): Promise<{ world: World; outside: Outside; running: number }> {
  const outside = nobody()
  const inner = memoryStore()
  const clocks: VirtualClock[] = []
  const settleEffects = async (): Promise<void> => {
    for (let round = 0; round < 5; round++) {
      for (const clock of clocks) clock.advance(1_000)
      await turnsOfTheLoop(2)
    }
  }
  const dying = cuttingStore(inner, at, place, settleEffects)
  const first = await startRunner(dying.store, outside)
  clocks.push(first.clock)
  // A process that dies while it starts never gets to the end of its start.
  void first.runner.start().then(() => first.runner.idle().then(dying.kill))
  await dying.dead
  const { runner } = await startRunner(inner, outside)
  const running = runner.world.query(components.Running).length
  await runner.start()
  await runner.idle()
  await runner.stop()
  return { world: runner.world, outside, running }
}

function agentsOf(world: World): readonly Entity[] {
  return world.query(Conversation)
}

function interruptions(world: World): number {
  const texts = agentsOf(world).flatMap((entity) =>
    world.read(entity, Conversation).map((message) => JSON.stringify(message)),
  )
  return texts.filter((text) => text.includes('[interrupted]')).length
}

describe('a run of two agents with parallel tools, retries and approvals', async () => {
  const golden = await undisturbed()

  it('takes at least 30 ticks and ends well', () => {
    expect(golden.ticks).toBeGreaterThanOrEqual(30)
    for (const entity of agentsOf(golden.world)) {
      expect(golden.world.read(entity, LastTurn)).toMatchObject({ stop: 'done', steps: rounds + 1 })
      expectValid(golden.world.read(entity, Conversation))
    }
  })

  it('gives the same hash every time', async () => {
    expect((await undisturbed()).world.hash()).toBe(golden.world.hash())
  })

  describe.each(places)('that is cut off %s', (place) => {
    it('ends, whatever the tick, with the same hash, and no once tool runs twice', async () => {
      let seenRunning = 0
      for (let at = 1; at <= golden.ticks + 1; at++) {
        const { world, outside, running } = await cut(at, place)
        const where = `cut ${place} ${at}`
        expect(new Set(outside.sent).size, `${where}: what was sent, was sent once`).toBe(outside.sent.length)
        for (const entity of agentsOf(world)) {
          expectValid(world.read(entity, Conversation))
          expect(world.read(entity, LastTurn).stop, where).toBe('done')
          expect(world.read(entity, Usage).calls, where).toBe(rounds + 1)
        }
        expect(interruptions(world), `${where}: one interrupted result for each once effect that was running`).toBe(
          running,
        )
        seenRunning += running
        if (running > 0) continue
        expect(world.hash({ stable: true }), where).toBe(golden.world.hash({ stable: true }))
        expect(outside.sent.length, where).toBe(golden.outside.sent.length)
      }
      expect(seenRunning, 'some of the cuts hit a once effect').toBeGreaterThan(0)
    })
  })
})
