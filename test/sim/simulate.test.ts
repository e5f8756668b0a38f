import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  agent,
  Conversation,
  defineTool,
  LastTurn,
  type ModelProvider,
  scripted,
  standardSystems,
  type System,
  textOf,
  World,
} from 'entia'
import * as components from 'entia/components'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { simulate, type SimulateOptions } from '../../src/sim/index.ts'
import { smallTeam, teamWorld } from './small-team.ts'

const everyFault = {
  model: { overloaded: 0.1, rateLimitedFor: 0.05, truncated: 0.05, malformedToolCall: 0.05, unknownTool: 0.05 },
  tool: { throws: 0.1, slow: 0.05 },
  delivery: { duplicated: 0.1, late: 0.1, reordered: 0.1 },
  store: { fails: 0.03, full: 0.02, torn: 0.02 },
  crash: { perTick: 0.04 },
} as const

/** An agent with one tool, which its model calls once, and what the tool does. */
function oneTool(run: ToolRun, options: Partial<SimulateOptions> = {}): SimulateOptions {
  const about = { name: 'ask', description: 'Asks.', input: z.object({}), timeoutMs: yearMs }
  const tool = defineTool({ ...about, restart: 'pure', run })
  return {
    world: (seed) => {
      const world = new World({ name: 'alone', seed, systems: standardSystems() })
      world.spawn(...agent({ model: 'script/x', messages: 'Go', tools: [tool] }))
      return world
    },
    models: {
      script: scripted(({ messages }) => (messages.length > 2 ? 'Done.' : { toolCalls: [{ name: 'ask' }] })),
    },
    tools: [tool],
    ...options,
  }
}
type ToolRun = Parameters<typeof defineTool>[0]['run']
const monthMs = 30 * 24 * 3_600_000
const yearMs = 12 * monthMs

describe('a simulated run', () => {
  it('goes from event to event, however long they take in world time', async () => {
    const sleepy = oneTool(async (_, { sleep }) => {
      await sleep(monthMs)
      return 'a month later'
    })
    const result = await simulate(sleepy)
    expect(result).toMatchObject({ ok: true, violation: undefined, crashes: 0 })
    expect(result.virtualMs).toBeGreaterThan(monthMs)
    expect(result.world.read(1, LastTurn).stop).toBe('done')
  })

  const withTwoSleeps: Record<string, ToolRun> = {
    'sleeps in two places': async (_, { sleep }) => {
      await Promise.all([sleep(100), sleep(50_000)])
      return 'slept'
    },
    'goes on behind the first of two sleeps': async (_, { sleep }) => {
      await Promise.race([sleep(100), sleep(50_000)])
      return 'slept'
    },
    'leaves a sleep behind': (_, { sleep }) => {
      void sleep(50_000)
      return 'is asleep'
    },
  }
  it.for(Object.entries(withTwoSleeps).flatMap(([what, run]) => [1, 3].map((processes) => ({ what, run, processes }))))(
    'does not wait for a tool that $what, with $processes processes',
    async ({ run, processes }) => {
      const asks = oneTool(run, { processes, latencyMs: { model: [60_000, 60_000] } })
      const { violation, world } = await simulate(asks)
      expect(violation).toBeUndefined()
      expect(world.read(1, LastTurn).stop).toBe('done')
    },
  )

  it('runs the worlds of sessions on the same clock, under labels of their own', async () => {
    const { worlds, trace, ok } = await simulate(smallTeam)
    expect(ok).toBe(true)
    expect([...worlds.keys()]).toEqual(['team', 'team/1.1', 'team/1.2'])
    const times = trace.entries.map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('is the same under the same seed, and another one under another', async () => {
    const seeds = [1, 2, 3, 1, 2, 3]
    const results = await Promise.all(seeds.map((seed) => simulate({ ...smallTeam, seed, faults: everyFault })))
    const hashes = results.map((result) => `${result.trace.hash} ${result.hash}`)
    expect(hashes.slice(3)).toEqual(hashes.slice(0, 3))
    expect(new Set(hashes).size).toBe(3)
  })

  it('is the same in another process', async () => {
    const program = join(import.meta.dirname, '../programs/simulated-run.ts')
    const run = async () => (await promisify(execFile)(process.execPath, [program, '11'])).stdout
    const [one, other] = await Promise.all([run(), run()])
    expect(one).toBe(other)
    expect(JSON.parse(one)).toMatchObject({ faults: expect.any(Number) as number })
  })

  it('is the same as the first of a process, which loads what is loaded once, and after that', async () => {
    const program = join(import.meta.dirname, '../programs/runs-in-a-row.ts')
    const { stdout } = await promisify(execFile)(process.execPath, [program, '7512'])
    const [first, second] = JSON.parse(stdout) as readonly string[]
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(second).toBe(first)
  })

  it('is the same on a world that was saved and restored', async () => {
    const restored = (seed: number): World =>
      World.restore(teamWorld(seed).snapshot(), { systems: standardSystems(), components })
    const made = await simulate({ ...smallTeam, seed: 5, faults: everyFault })
    const again = await simulate({ ...smallTeam, seed: 5, faults: everyFault, world: restored })
    expect(again.trace.hash).toBe(made.trace.hash)
    expect(again.hash).toBe(made.hash)
  })

  it('is made again by the list of the faults that struck it', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      const drawn = await simulate({ ...smallTeam, seed, faults: everyFault })
      const listed = await simulate({ ...smallTeam, seed, faults: drawn.faults })
      expect(listed.faults, `seed ${seed}`).toEqual(drawn.faults)
      expect(listed.trace.hash, `seed ${seed}`).toBe(drawn.trace.hash)
    }
  })

  it('does not depend on how long handlers really take', async () => {
    const reading = (files: number) => ({
      ...smallTeam,
      seed: 9,
      models: {
        ...smallTeam.models,
        scout: scripted(async ({ messages }) => {
          for (let file = 0; file < files * messages.length; file++) await readFile(import.meta.filename)
          const isBack = messages.at(-1)?.role === 'tool'
          return isBack ? `Seen ${textOf(messages.at(0))}.` : { toolCalls: [{ name: 'look', arguments: { at: 'x' } }] }
        }),
      },
    })
    const [fast, slow] = await Promise.all([simulate(reading(0)), simulate(reading(5))])
    expect(slow.trace.hash).toBe(fast.trace.hash)
  })

  it('draws the latency of a scripted model from its seed', async () => {
    const latencies = async (seed: number): Promise<number> => {
      const model = scripted(() => 'Done.', { latencyMs: [1_000, 9_000] })
      return (await simulate({ ...oneTool(() => ''), seed, models: { script: model } })).virtualMs
    }
    const drawn = await Promise.all([1, 2, 3, 4, 5].map(latencies))
    for (const each of drawn) expect(each).toSatisfy((ms: number) => ms >= 1_000 && ms <= 9_000)
    expect(new Set(drawn).size).toBeGreaterThan(3)
  })

  it("lets the latency that a model of one's own names pass before it is called, and what it sleeps beyond that after", async () => {
    const endedAfter = async (...sleepsMs: readonly number[]): Promise<number> => {
      const own: ModelProvider = {
        latencyMs: 500,
        isInProcess: true,
        call: async (request, context) => {
          for (const ms of sleepsMs) await context.sleep(ms)
          return scripted(() => 'Done.').call(request, context)
        },
      }
      return (await simulate({ ...oneTool(() => ''), models: { script: own } })).virtualMs
    }
    expect(await endedAfter()).toBe(500)
    expect(await endedAfter(500)).toBe(500)
    expect(await endedAfter(300, 300)).toBe(600)
    expect(await endedAfter(300, 0, 200, 40)).toBe(540)
  })

  it('gives each line of its trace away as it is written, and keeps none', async () => {
    const lines: string[] = []
    const told = await simulate({ ...smallTeam, seed: 3, onTrace: (line) => lines.push(line) })
    const kept = await simulate({ ...smallTeam, seed: 3 })
    expect(lines).toEqual(kept.trace.lines)
    expect(told.trace.hash).toBe(kept.trace.hash)
    expect(told.trace.entries).toEqual([])
  })
})

describe('a crash', () => {
  it('throws everything away, and the run goes on from the store to the same end', async () => {
    let crashes = 0
    const calm = await simulate(smallTeam)
    const places = new Set<string>()
    for (let seed = 1; seed <= 20; seed++) {
      const result = await simulate({ ...smallTeam, seed, faults: { crash: { perTick: 0.1 } } })
      expect(result.violation, `seed ${seed}`).toBeUndefined()
      crashes += result.crashes
      for (const { what } of result.faults) if (what.startsWith('crash.')) places.add(what)
      const { letters } = result.services.post
      expect(letters.length, `seed ${seed}: a letter goes out once at most`).toBeLessThanOrEqual(1)
      const talk = result.world.read(1, Conversation)
      expect(talk.length, `seed ${seed}`).toBe(calm.world.read(1, Conversation).length)
    }
    expect(crashes).toBeGreaterThan(20)
    expect([...places].toSorted()).toEqual(['crash.afterCommit', 'crash.afterEffects', 'crash.beforeCommit'])
  })

  it("of a session's Runner alone fails that session, and its parent goes on", async () => {
    const faults = [{ what: 'crash.child', at: 'team/1.1 commit 2' }] as const
    const { ok, worlds, world } = await simulate({ ...smallTeam, faults })
    expect(ok).toBe(true)
    const sessions = world.query(components.SubagentSession).map((each) => world.read(each, components.SubagentSession))
    expect(sessions.map(({ status }) => status)).toEqual(['failed', 'succeeded'])
    expect(worlds.get('team')?.world.read(1, LastTurn).stop).toBe('done')
  })
})

describe('a system that has work in its sleep', () => {
  const sleepwalker: System = {
    name: 'sleepwalker',
    priority: 1,
    wakes: ['cancel'],
    run: (world) => world.emit({ type: 'walked' }),
  }
  const seeds = [1, 2, 3, 8, 9, 10]
  const brokenUnder = async (options: Partial<SimulateOptions>): Promise<number[]> => {
    const broken: number[] = []
    for (const seed of seeds) {
      const { violation } = await simulate({ ...oneTool(() => 'done', options), seed })
      if (violation?.message.includes("none of its 'wakes' covers") === true) broken.push(seed)
    }
    return broken
  }
  const world = (seed: number): World => {
    const made = new World({ name: 'alone', seed, systems: [...standardSystems(), sleepwalker] })
    made.spawn(...agent({ model: 'script/x', messages: 'Go' }))
    return made
  }

  it('is found under one seed of eight, and in a thorough run under each', async () => {
    expect(await brokenUnder({ world })).toEqual([1, 9])
    expect(await brokenUnder({ world, thorough: true })).toEqual(seeds)
  })
})
