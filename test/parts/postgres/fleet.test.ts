import { agent, EntiaError, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { DelegationLimits } from 'entia/components'
import { defineFleet, type Fleet, type FleetOptions } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newSchema } from './stores.ts'

const parts: Readonly<Record<string, string>> = { house: 'wall', wall: 'brick', brick: 'grain of sand' }

/** Each has another one make the main part of its thing, and then makes the thing. */
const builder = scripted(({ messages }) => {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  const thing = (said.at(-1) ?? '').replace('Make a ', '').replace('.', '')
  const last = messages.at(-1)
  if (last?.role === 'tool') return `${thing} made (${textOf(last)})`
  const part = parts[thing]
  if (part === undefined) return `${thing} made`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'builder', prompt: `Make a ${part}.` } }] }
})

function site(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(
    ...agent({ model: 'script/builder' }),
    SubagentRegistry({
      subagents: { builder: { name: 'builder', inheritancePolicy: { inheritTools: ['subagent'] } } },
    }),
    DelegationLimits({ depth: 3 }),
  )
  return world
}

/** The same fleet, as each of several processes has it. */
function processes(count: number, options: Partial<FleetOptions> = {}): readonly Fleet[] {
  const schema = newSchema()
  return Array.from({ length: count }, () => {
    const fleet = defineFleet({
      database: inject('postgres'),
      schema,
      worlds: { site },
      models: { script: builder },
      idleMs: 50,
      ...options,
    })
    onTestFinished(() => fleet.close())
    return fleet
  })
}

const house = 'house made (wall made (brick made (grain of sand made)))'

describe('a fleet', () => {
  it('answers by name from whichever process drives the world', async () => {
    const [front, one, two] = processes(3)
    await Promise.all([one?.work(), two?.work()])
    const answers = ['site/1', 'site/2', 'site/3'].map(
      async (name) => (await front?.agent(name).ask('Make a crystal.'))?.text,
    )
    expect(await Promise.all(answers)).toEqual(['crystal made', 'crystal made', 'crystal made'])
  })

  it('runs sessions of sessions wherever there is room, with one slot for all of them', async () => {
    const [front, one, two] = processes(3, { maxSessions: 1 })
    await Promise.all([one?.work({ sessions: 2 }), two?.work({ sessions: 2 })])
    const site1 = front?.agent('site/1')
    expect((await site1?.ask('Make a house.'))?.text).toBe(house)
    expect(await site1?.sessions()).toMatchObject([{ status: 'succeeded', prompt: 'Make a wall.' }])
    const status = await front?.status()
    expect(status?.sessions).toEqual([])
    expect(status?.letters.waiting).toBe(0)
    expect(status?.workers.filter(({ isAlive }) => isAlive)).toHaveLength(2)
  })

  it('goes on where another process drives the world after one has left in the midst of it', async () => {
    const [front, one, two] = processes(3)
    const first = await one?.work()
    const asked = front?.agent('site/1').ask('Make a house.')
    for await (const part of asked?.parts ?? []) if (part.type === 'session-started') break
    await first?.stop()
    await two?.work()
    expect((await asked)?.text).toBe(house)
  })

  it('refuses worlds that it cannot make, and says which there are', () => {
    const [front] = processes(1)
    expect(() => front?.agent('sight/1')).toThrow(EntiaError)
    expect(() => front?.agent('sites/1')).toThrow("Did you mean 'site'?")
  })
})
