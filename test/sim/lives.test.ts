import {
  agent,
  defineComponent,
  defineTool,
  LastTurn,
  scripted,
  standardSystems,
  type System,
  textOf,
  World,
} from 'entia'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { law, service, simulate, type SimulateOptions, sweep } from '../../src/sim/index.ts'

const Numbers = defineComponent('Numbers', z.strictObject({ given: z.array(z.number()) }))

/** The mistake: the next number is kept beside the world, where no store has it. */
function forgetfulNumbers(): System {
  let next = 1
  return {
    name: 'numbers',
    priority: 50,
    run(world) {
      const { given } = world.read(1, Numbers)
      world.set(1, Numbers, { given: [...given, next++] })
    },
  }
}

const honestNumbers: System = {
  name: 'numbers',
  priority: 50,
  run(world) {
    const { given } = world.read(1, Numbers)
    world.set(1, Numbers, { given: [...given, given.length + 1] })
  },
}

const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  input: z.object({}),
  restart: 'pure',
  run: () => 'asked',
})

const threeSteps = scripted(({ messages }) => {
  return messages.filter(({ role }) => role === 'tool').length < 3 ? { toolCalls: [{ name: 'ask' }] } : 'Done.'
})

function counting(numbers: () => System) {
  return {
    world(seed) {
      const world = new World({ name: 'counting', seed, systems: [...standardSystems(), numbers()] })
      world.spawn(...agent({ model: 'script/x', tools: [ask], messages: 'Go' }), Numbers({ given: [] }))
      return world
    },
    components: [Numbers],
    models: { script: threeSteps },
    tools: [ask],
    faults: { crash: { perTick: 0.05 } },
    laws: [
      law('no number is given twice', ({ world }) => {
        const { given } = world.read(1, Numbers)
        return new Set(given).size === given.length || `given: ${given.join(', ')}`
      }),
    ],
  } satisfies SimulateOptions
}

describe('a system that counts beside the world', () => {
  it('counts from the beginning after a crash, and is found by one', async () => {
    const { failure } = await sweep({ ...counting(forgetfulNumbers), seeds: 100 })
    expect(failure?.result.violation).toMatchObject({ law: 'no number is given twice' })
    expect(failure?.shrunk?.result.crashes).toBe(1)
    expect(failure?.shrunk?.faults.map(({ what }) => what.split('.')[0])).toEqual(['crash'])
  })

  it('and one that counts in it go the same way until then', async () => {
    const faults: [] = []
    expect((await simulate({ ...counting(forgetfulNumbers), faults })).ok).toBe(true)
    expect((await sweep({ ...counting(() => honestNumbers), seeds: 100 })).ok).toBe(true)
  })
})

describe('each life of a simulated process', () => {
  it('has systems of its own, made by world, and takes nothing else from there', async () => {
    let lives = 0
    const seen: number[] = []
    const world = (seed: number): World => {
      const life = ++lives
      const tells: System = { name: 'tells', priority: 60, run: () => void seen.push(life) }
      const made = new World({ name: 'told', seed, systems: [...standardSystems(), tells] })
      made.spawn(...agent({ model: 'script/x', messages: `said in life ${life}` }))
      return made
    }
    const models = { script: scripted(({ messages }) => textOf(messages.at(0))) }
    const faults = [{ what: 'crash.afterCommit', at: 'store commit 2' } as const]
    const result = await simulate({ world, models, faults })
    expect(result).toMatchObject({ ok: true, crashes: 1 })
    expect([...new Set(seen)]).toEqual([1, 2])
    expect(result.world.name).toBe('told')
    expect(JSON.stringify(result.world.snapshot())).not.toContain('said in life 2')
  })

  it('has tools of its own, if a function makes them; a list of tools is the same one in all of them', async () => {
    const desk = service(
      () => ({ asked: [] as number[] }),
      ({ request }: { readonly request: number }, { asked }) => asked.push(request),
    )
    const counted = (of?: ReturnType<typeof desk.start>) => {
      let calls = 0
      return defineTool({
        name: 'ask',
        description: 'Asks.',
        input: z.object({}),
        restart: 'once',
        run: async (_, context) => `${await of?.call(++calls, context)}`,
      })
    }
    const options = { ...counting(() => honestNumbers), laws: [], services: { desk } }
    const faults = [{ what: 'crash.afterCommit', at: 'store commit 6' } as const]
    const fresh = await simulate({ ...options, faults, tools: (outside) => [counted(outside.desk)] })
    expect(fresh).toMatchObject({ ok: true, crashes: 1 })
    expect(fresh.services.desk.asked).toHaveLength(3)
    expect(fresh.services.desk.asked.filter((call) => call === 1)).toHaveLength(2)

    let calls = 0
    const kept = defineTool({ ...askShape, run: () => `${++calls}` })
    const same = await simulate({ ...options, faults, tools: [kept] })
    expect(same).toMatchObject({ ok: true, crashes: 1 })
    expect(same.world.read(1, LastTurn).stop).toBe('done')
    expect(calls).toBeGreaterThanOrEqual(3)
  })
})

const askShape = { name: 'ask', description: 'Asks.', input: z.object({}), restart: 'pure' } as const
