import { agent, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet, type Fleet } from 'entia/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Pooler } from './pooler.ts'
import { asked, newDatabase, storeIn } from './stores.ts'

const clerk = scripted(({ messages }) => {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `Helped: ${textOf(last)}`
  const text = textOf(last)
  if (!text.startsWith('Ask')) return `done ${text}`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'helper', prompt: text.slice(4) } }] }
})

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'desk/clerk' }), SubagentRegistry({ subagents: { helper: { name: 'helper' } } }))
  return world
}

const names = Array.from({ length: 8 }, (_, each) => `desk/${each}`)

describe('a fleet behind a pooler of transactions', () => {
  it('has one connection of its own in each process, and asks nothing of the pooler that belongs to a connection', async () => {
    const direct = await newDatabase()
    const pooler = await Pooler.start(direct, 3)
    onTestFinished(() => pooler.close())
    const processIn = (): Fleet => {
      const fleet = defineFleet({ database: pooler.url, direct, worlds: { desk }, models: { desk: clerk }, idleMs: 50 })
      onTestFinished(() => fleet.close())
      return fleet
    }
    const [front, one, two] = [processIn(), processIn(), processIn()]
    const first = await one.work()
    await two.work()
    const answers = await Promise.all(names.map(async (name) => (await front.agent(name).ask(`Ask ${name}`)).text))
    for (const [at, answer] of answers.entries()) expect(answer).toContain(`done ${names[at]}`)
    await first.stop()
    expect((await front.agent('desk/0').ask('And now?')).text).toBe('done And now?')
    expect(pooler.refused).toEqual([])
    expect(pooler.transactions).toBeGreaterThan(100)
    // The pooler's three, and those that listen: of the process that asks, and of the worker that is left.
    const [row] = await asked(
      direct,
      'SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database()',
    )
    expect(row?.['count']).toBeLessThanOrEqual(3 + 2 + 1)
  })

  it('hears what others do on its own connection, and loses its worlds with that', async () => {
    const direct = await newDatabase()
    const pooler = await Pooler.start(direct, 2)
    onTestFinished(() => pooler.close())
    const options = { database: pooler.url, direct, leaseMs: 60_000 }
    const [holder, other] = [storeIn('entia', options), storeIn('entia', options)]
    const heard = new Promise<string>((resolve) => void holder.on('letter', (_, world) => resolve(world)))
    await (await holder.open('a')).commit({ snapshot: { tick: 0, lines: ['{}'] } })
    await other.post({ world: 'a', line: '{}' })
    expect(await heard).toBe('a')
    await expect(other.open('a')).rejects.toMatchObject({ code: 'world-locked' })
    expect(pooler.refused).toEqual([])
  })
})

describe('a worker that is to have few connections', () => {
  it('has two: one that listens, and one for all else', async () => {
    const database = await newDatabase()
    const fleet = defineFleet({ database, worlds: { desk }, models: { desk: clerk }, idleMs: 50, maxConnections: 0 })
    onTestFinished(() => fleet.close())
    await fleet.work()
    const answers = await Promise.all(names.map(async (name) => (await fleet.agent(name).ask(`Ask ${name}`)).text))
    for (const [at, answer] of answers.entries()) expect(answer).toContain(`done ${names[at]}`)
    const [row] = await asked(
      database,
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'entia'`,
    )
    // The worker's, and those of the process that asks, which follows what it asks for.
    expect(row?.['count']).toBeLessThanOrEqual(4)
  })
})

describe('addresses past a pooler', () => {
  it('are as many as those of the databases', () => {
    const given = { worlds: { desk }, database: ['postgres://a@b/c', 'postgres://a@b/d'] }
    expect(() => defineFleet({ ...given, direct: 'postgres://a@b/c' })).toThrow(/'direct' must name as many/)
  })
})
