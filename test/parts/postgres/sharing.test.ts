import { agent, type ModelProvider, scripted, standardSystems, textOf, World } from 'entia'
import { defineFleet, type Fleet, type FleetOptions } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { tool } from '../../behaviour/turns/tools.ts'
import { newSchema } from './stores.ts'

const search = tool('search', () => 'found')

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'desk/clerk', tools: [search] }))
  return world
}

/** A process of the fleet of a schema. */
function processIn(schema: string, options: Partial<FleetOptions>): Fleet {
  const fleet = defineFleet({ database: inject('postgres'), schema, worlds: { desk }, tools: [search], ...options })
  onTestFinished(() => fleet.close())
  return fleet
}

describe('a provider that asks one worker for a pause', () => {
  it('gets it from all of them', async () => {
    const schema = newSchema()
    const pauseMs = 2_000
    let heldAtMs = 0
    const retry = { maxAttempts: 2, firstDelayMs: 1, maxDelayMs: 1, kinds: ['rate-limited' as const] }
    const busy: ModelProvider = {
      ...scripted(() => 'never', { retry }),
      call: async () => {
        heldAtMs = performance.now()
        return { ok: false, failure: { kind: 'rate-limited', message: 'Too many.', retryAfterMs: pauseMs } }
      },
    }
    const one = processIn(schema, { models: { desk: busy } })
    const two = processIn(schema, { models: { desk: scripted(() => `after ${performance.now() - heldAtMs}`) } })
    const first = await one.work({ worlds: 1 })
    const held = new Promise((resolve) => first.on('provider-held', resolve))
    const refused = one.agent('desk/1').ask('Hello?')
    refused.catch(() => undefined)
    await held
    await expect.poll(async () => (await two.store.peers.state()).pauses).toMatchObject([{ provider: 'desk' }])
    await two.work({ worlds: 1 })
    const { text } = await two.agent('desk/2').ask('Hello?')
    expect(Number(text.replace('after ', ''))).toBeGreaterThanOrEqual(pauseMs - 50)
  })
})

describe('room for calls of a provider', () => {
  it('is divided among the workers', async () => {
    const schema = newSchema()
    let calls = 0
    let most = 0
    const full = Promise.withResolvers<void>()
    const models = {
      desk: scripted(async ({ messages }) => {
        most = Math.max(most, ++calls)
        if (calls === 4) full.resolve()
        // All wait until there is no room left; one call more than that would come meanwhile.
        if (textOf(messages.at(-1)) === 'At once?') await full.promise
        await new Promise((resolve) => setTimeout(resolve, 30))
        calls--
        return 'done'
      }),
    }
    const fleets = [1, 2].map(() => processIn(schema, { models, maxInFlightPerProvider: 4 }))
    const workers = await Promise.all(fleets.map((fleet) => fleet.work()))
    const driven = workers.map((worker) => {
      const worlds = new Set<string>()
      worker.on('turn-ended', ({ world }) => worlds.add(world))
      return worlds
    })
    const [front] = fleets as [Fleet]
    for (let warm = 0; warm < 4; warm++) await front.agent(`desk/warm-${warm}`).ask('Hello?')
    most = 0
    await Promise.all(Array.from({ length: 24 }, (_, each) => front.agent(`desk/${each}`).ask('At once?')))
    expect(driven.every(({ size }) => size > 0)).toBe(true)
    expect(most).toBe(4)
  })
})

describe('a worker that lacks a tool which another has', () => {
  it('leaves the world to that one, untouched, and the world keeps its tool', async () => {
    const schema = newSchema()
    const models = { desk: scripted(({ tools }) => `I have ${tools.map(({ name }) => name).join(', ')}.`) }
    const [able, lacking] = [processIn(schema, { models }), processIn(schema, { models, tools: [] })]
    const before = await able.work()
    expect((await able.agent('desk/1').ask('What?')).text).toBe('I have search.')
    await before.stop()
    const full = await able.work({ worlds: 0 })
    const unfit = new Promise<string>((resolve) => {
      void lacking.work({ unfit: (world, code) => resolve(`${world} ${code}`) })
    })
    const answer = able.agent('desk/1').ask('And now?')
    expect(await unfit).toBe('desk/1 missing-handler')
    expect((await able.store.due(10))[0]).toMatchObject({ name: 'desk/1', epoch: 1, strikes: 0 })
    await able.work()
    await full.stop()
    expect((await answer).text).toBe('I have search.')
  })

  it('says so where nobody could drive the world for a minute', async () => {
    const schema = newSchema()
    const fleet = processIn(schema, { models: {} })
    const worker = await fleet.work()
    const told = new Promise((resolve) => worker.on('world-unfit', resolve))
    await fleet.agent('desk/1').message('Hello?')
    await fleet.store.transaction((client) => client.query(`UPDATE ${schema}.mail SET at = at - interval '2 minutes'`))
    expect(await told).toMatchObject({ world: 'desk/1', code: 'unknown-provider' })
  })
})
