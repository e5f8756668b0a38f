import nodeCrypto, { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as realTimeout } from 'node:timers/promises'
import { agent, Conversation, defineComponent, defineTool, scripted, standardSystems, type System, World } from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { law, simulate, type SimulateOptions } from '../../src/sim/index.ts'
import { smallTeam, teamWorld } from './small-team.ts'

type ToolRun = Parameters<typeof defineTool>[0]['run']

function asks(run: ToolRun) {
  return defineTool({ name: 'ask', description: 'Asks.', input: z.object({}), restart: 'pure', run })
}

/** An agent whose model calls its one tool once, and what the tool does. */
function alone(run: ToolRun, options: Partial<SimulateOptions> = {}, systems: readonly System[] = []): SimulateOptions {
  const tool = asks(run)
  return {
    world: (seed) => {
      const world = new World({ name: 'alone', seed, systems: [...standardSystems(), ...systems] })
      world.spawn(...agent({ model: 'script/x', messages: 'Go', tools: [tool] }))
      return world
    },
    models: { script: scripted(({ messages }) => (messages.length > 2 ? 'Done.' : { toolCalls: [{ name: 'ask' }] })) },
    tools: [tool],
    ...options,
  }
}

describe('a behaviour', () => {
  it('that returns rubbish fails the run, which says what it was', async () => {
    for (const rubbish of ['undefined', '42', '{ "txet": "Hi" }', '{ "toolCalls": [{}] }', '{ "toolCalls": {} }']) {
      const script = scripted(() => (rubbish === 'undefined' ? undefined : JSON.parse(rubbish)) as string)
      const { violation } = await simulate(alone(() => '', { models: { script } }))
      expect(violation).toMatchObject({
        law: 'models-answer',
        message: expect.stringContaining("model 'script' of alone answered with ") as string,
      })
    }
  })
})

describe('a law', () => {
  it('that throws is broken by that, and the report says what was thrown', async () => {
    const broken = law('the sun shines', () => {
      throw new Error('it is night')
    })
    const { ok, violation } = await simulate({ ...smallTeam, laws: [broken] })
    expect(ok).toBe(false)
    expect(violation).toMatchObject({
      law: 'the sun shines',
      message: 'the check threw: it is night',
      world: 'team',
      tick: 1,
    })
  })

  it('says by false or by a sentence that it is broken, and by nothing that it holds', async () => {
    const verdicts = [
      [undefined, undefined],
      [true, undefined],
      [false, 'it does not hold'],
      ['too many', 'too many'],
    ] as const
    for (const [verdict, message] of verdicts) {
      const { violation } = await simulate({ ...smallTeam, laws: [law('a law', () => verdict)] })
      expect(violation?.message).toBe(message)
      const atTheEnd = await simulate({ ...smallTeam, laws: [law('a law', { finished: () => verdict })] })
      expect(atTheEnd.violation?.message).toBe(message)
    }
  })

  it('ends the run where it is broken', async () => {
    const { ticks, trace } = await simulate({
      ...smallTeam,
      laws: [law('three ticks', ({ step }) => step.delta.tick < 3)],
    })
    expect(ticks).toBe(3)
    expect(trace.entries.at(-1)).toMatchObject({ type: 'law-broken', facts: { law: 'three ticks' } })
  })
})

describe('a run that comes to no end', () => {
  it('is ended by a bound of its ticks, and says who waits for what', async () => {
    const chatty = scripted(() => ({ toolCalls: [{ name: 'ask' }] }))
    const options = alone(() => '', { models: { script: chatty }, bounds: { maxTicks: 61 } })
    const { violation, ticks } = await simulate(options)
    expect(ticks).toBe(61)
    expect(violation).toMatchObject({ law: 'run-ends' })
    expect(violation?.message).toContain('bounds.maxTicks (61)')
    expect(violation?.message).toContain('alone: agent 1 waits for')
  })

  it('is ended by a bound of world time', async () => {
    const slow = alone(async (_, { sleep }) => {
      await sleep(500_000)
      return ''
    })
    const { violation } = await simulate({ ...slow, bounds: { maxVirtualMs: 400_000 } })
    expect(violation?.message).toContain('bounds.maxVirtualMs (400000)')
  })

  it('is ended when nobody can go on, and says who waits for what', async () => {
    const Waits = defineComponent('Waits', z.object({ for: z.string() }))
    const forever = { prepare: () => undefined, isWaiting: true }
    const { Effect, OwnedBy, Pending } = await import('entia/components')
    const world = (seed: number): World => {
      const made = new World({ name: 'alone', seed, systems: standardSystems() })
      const waiter = made.spawn(...agent({ model: 'script/x' }))
      made.spawn(
        Effect({ attempt: 1, kind: 'godot', restart: 'pure' }),
        Pending,
        OwnedBy({ agent: waiter }),
        Waits({ for: 'Godot' }),
      )
      return made
    }
    const { violation } = await simulate(alone(() => '', { world, effects: { godot: forever } }))
    expect(violation).toMatchObject({ law: 'run-ends' })
    expect(violation?.message).toContain('Nothing is at work, and nothing is due')
    expect(violation?.message).toContain('alone: agent 1 waits for godot, effect 2, try 1, with no time-out')
  })

  it('knows components of a list, and of a module', async () => {
    const module = await import('entia/components')
    for (const components of [module, [module.Conversation]]) {
      expect((await simulate(alone(() => '', { components }))).violation).toBeUndefined()
    }
    const world = new World({ components: module })
    expect(world.hash()).toBe(new World({ components: Object.values(module) }).hash())
    await expect(simulate(alone(() => '', { components: 5 as never }))).rejects.toThrow(
      'a list or a module of components',
    )
  })

  it('is ended when its system fails, which is named', async () => {
    const bad = { name: 'bad', priority: 99, run: () => JSON.parse('{') as void }
    const world = (seed: number): World => {
      const made = new World({ name: 'alone', seed, systems: [...standardSystems(), bad] })
      made.spawn(...agent({ model: 'script/x', messages: 'Go' }))
      return made
    }
    const { violation } = await simulate(alone(() => '', { world }))
    expect(violation).toMatchObject({ law: 'runner-goes-on' })
    expect(violation?.message).toContain("System 'bad' failed in tick 1")
  })
})

/** What tools should not do, by what is said of it. */
const realUses: Readonly<Record<string, () => string | Promise<string>>> = {
  'Date.now()': () => `${Date.now()}`,
  'new Date()': () => new Date().toISOString(),
  'Math.random()': () => `${Math.random()}`,
  'performance.now()': () => `${performance.now()}`,
  'crypto.randomUUID()': () => crypto.randomUUID(),
  'randomUUID() of node:crypto': () => randomUUID(),
  'randomBytes() of node:crypto': () => randomBytes(4).toString('hex'),
  'randomInt() of node:crypto': () => `${randomInt(6)}`,
  'randomFillSync() of node:crypto': () => nodeCrypto.randomFillSync(Buffer.alloc(4)).toString('hex'),
  'process.hrtime()': () => `${process.hrtime()[0]}`,
  'process.hrtime.bigint()': () => `${process.hrtime.bigint()}`,
  'setTimeout()': async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, 1)
    })
    return ''
  },
}

/** An agent beside a system that does such a thing in its third tick. */
function besideSystem(does: () => unknown): SimulateOptions {
  const curious: System = {
    name: 'curious',
    priority: 30,
    run: (world) => void (world.tick === 3 && does()),
  }
  return alone(() => 'nothing new', {}, [curious])
}

describe('a system', () => {
  it.for(Object.entries(realUses))('that uses %s is named, and what it used', async ([used, run]) => {
    const { ok, violation, realUses } = await simulate(besideSystem(run))
    expect(ok).toBe(false)
    expect(realUses).toEqual([{ name: "system 'curious' of alone", used }])
    expect(violation).toMatchObject({ law: 'real-time-in-simulation', world: 'alone', tick: 3 })
    expect(violation?.message).toContain(`system 'curious' of alone used ${used}`)
    expect(violation?.message).toContain('world.nowMs, world.dateMs, world.random() or world.newId()')
  })

  it('of a session is named with it', async () => {
    const curious: System = {
      name: 'curious',
      priority: 30,
      run: (world) => void (world.name !== 'team' && Math.random()),
    }
    const world = (seed: number): World => teamWorld(seed, [...standardSystems(), curious])
    const { violation } = await simulate({ ...smallTeam, world })
    expect(violation?.message).toContain("system 'curious' of team/1.1 used Math.random()")
  })

  it('that throws as well is named for what it used first', async () => {
    const { violation } = await simulate(besideSystem(() => JSON.parse(`{${Date.now()}`) as unknown))
    expect(violation?.message).toContain("system 'curious' of alone used Date.now()")
  })

  it('that may do so is only listed, and makes dates of what the world says without being so', async () => {
    const { ok, realUses } = await simulate({ ...besideSystem(() => Math.random()), realUse: 'list' })
    expect([ok, realUses]).toEqual([true, [{ name: "system 'curious' of alone", used: 'Math.random()' }]])
    const dated = await simulate(besideSystem(() => new Date(0).toISOString()))
    expect([dated.ok, dated.realUses]).toEqual([true, []])
  })

  it('is told apart from the systems of a simulation that runs beside it', async () => {
    const [curious, other] = await Promise.all([simulate(besideSystem(() => Date.now())), simulate(smallTeam)])
    expect(curious.realUses).toHaveLength(1)
    expect([other.ok, other.realUses]).toEqual([true, []])
  })
})

describe('a tool', () => {
  it.for(Object.entries(realUses))('that uses %s is named, and what it used', async ([used, run]) => {
    const { violation, realUses } = await simulate(alone(run))
    expect(realUses).toEqual([{ name: "tool 'ask' of alone", used }])
    expect(violation?.law).toBe('real-time-in-simulation')
    expect(violation?.message).toContain(`tool 'ask' of alone used ${used}`)
  })

  it('that does so after it has waited is named as well', async () => {
    const late = alone(async () => {
      await readFile(import.meta.filename)
      return `${Math.random()}`
    })
    expect((await simulate(late)).realUses).toHaveLength(1)
  })

  it('that may do so is only listed', async () => {
    const { ok, realUses } = await simulate({ ...alone(() => `${Date.now()}`), realUse: 'list' })
    expect(ok).toBe(true)
    expect(realUses).toHaveLength(1)
  })

  it('finds globals as they always were, but for what is told of their use', async () => {
    const own = () => Object.getOwnPropertyDescriptor(Math, 'random')
    const before = own()
    let meanwhile: PropertyDescriptor | undefined
    await simulate(alone(() => ((meanwhile = own()), 'seen')))
    expect(own()).toEqual(before)
    expect({ ...meanwhile, value: before?.value }).toEqual(before)
    expect(meanwhile?.value).not.toBe(before?.value)
  })

  it('may make dates of what it is given, and everybody outside may use the clock', async () => {
    const dated = alone(() => new Date(0).toISOString())
    const running = simulate(dated)
    const before = [Date.now(), Math.random(), new Date()]
    const { ok, realUses, world } = await running
    expect([ok, realUses, before.length]).toEqual([true, [], 3])
    expect(JSON.stringify(world.read(1, Conversation))).toContain('1970-01-01')
  })

  it('that takes real time is named, and the run ends', async () => {
    const { violation } = await simulate({ ...alone(async () => realTimeout(60_000, '')), bounds: { maxStallMs: 50 } })
    expect(violation?.law).toBe('real-time-in-simulation')
    expect(violation?.message).toContain("tool 'ask' of alone took more than 50 ms of real time (bounds.maxStallMs)")
  })

  it('leaves clock and dice as they were when the last simulation is over', async () => {
    const globals = () => [
      Date,
      setTimeout,
      randomUUID,
      process.hrtime,
      ...[Math, performance, nodeCrypto, process.hrtime].map((of) =>
        Object.entries(Object.getOwnPropertyDescriptors(of)),
      ),
    ]
    const before = globals()
    await Promise.all([simulate(smallTeam), simulate({ ...smallTeam, seed: 2 })])
    expect(globals()).toEqual(before)
  })
})

describe('an option', () => {
  it('that does not exist or cannot be is refused by name', async () => {
    const bad = [
      [{ sede: 4 }, 'simulate(): unknown option sede'],
      [{ seed: -1 }, 'seed must be an integer ≥ 0, got -1'],
      [{ world: 'team' }, 'world must be a function that makes a World, got "team"'],
      [{ bounds: { maxTicks: 0 } }, 'bounds.maxTicks must be a number above 0, got 0'],
      [{ bounds: { maxTick: 9 } }, 'unknown option maxTick. Known: maxTicks'],
      [{ latencyMs: { model: [9, 1] } }, 'latencyMs.model must be two whole numbers'],
    ] as const
    for (const [wrong, message] of bad) {
      await expect(simulate({ ...smallTeam, ...(wrong as object) })).rejects.toThrow(message)
    }
  })

  it('world that throws rejects with what was thrown', async () => {
    const world = (): World => {
      throw new Error('no world today')
    }
    await expect(simulate({ ...smallTeam, world })).rejects.toThrow('no world today')
  })
})
