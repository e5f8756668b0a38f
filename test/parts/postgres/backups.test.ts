import { agent, scripted, standardSystems, textOf, World } from 'entia'
import { defineFleet, type Fleet, type SqlClient } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newSchema, storeIn } from './stores.ts'

/** Answers with all that it was ever told. */
const models = {
  desk: scripted(({ messages }) => [...messages].flatMap((one) => (one.role === 'user' ? textOf(one) : [])).join(', ')),
}

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'desk/clerk' }))
  return world
}

function fleetIn(schema: string, idleMs: number): Fleet {
  const fleet = defineFleet({ database: inject('postgres'), schema, worlds: { desk }, models, idleMs })
  onTestFinished(() => fleet.close())
  return fleet
}

/** Puts the rows of one schema in the place of those of another, as of one instant, and its counters too, as a dump does. */
async function copied(from: string, to: string): Promise<void> {
  await storeIn(to).transaction(async (client) => {
    await client.query('SET LOCAL session_replication_role = replica')
    const { rows } = await client.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [to])
    const tables = rows.map(({ tablename }) => String(tablename))
    await client.query(`TRUNCATE ${tables.map((table) => `${to}.${table}`).join(', ')}`)
    for (const table of tables) {
      await client.query(`INSERT INTO ${to}.${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${from}.${table}`)
      await countOn(client, to, table)
    }
  })
}

async function countOn(client: SqlClient, schema: string, table: string): Promise<void> {
  const { rows } = await client.query(
    `SELECT pg_get_serial_sequence($1, 'id') AS counter WHERE EXISTS (
       SELECT FROM information_schema.columns WHERE table_schema = $2 AND table_name = $3 AND is_identity = 'YES')`,
    [`${schema}.${table}`, schema, table],
  )
  const counter = rows[0]?.['counter']
  if (counter === undefined) return
  await client.query(`SELECT setval($1, (SELECT coalesce(max(id), 0) + 1 FROM ${schema}.${table}), false)`, [counter])
}

/** A schema with the same tables, which are empty. */
async function emptyCopy(): Promise<string> {
  const schema = newSchema()
  await storeIn(schema).list()
  return schema
}

describe('a backup', { timeout: 60_000 }, () => {
  it.each([
    ['that has its worlds open', 60_000],
    ['that has parked them', 0],
  ])('restored in the place of a living fleet %s is what goes on, and nobody writes on what was', async (_, idleMs) => {
    const [schema, backup] = [newSchema(), await emptyCopy()]
    const [front, back] = [fleetIn(schema, idleMs), fleetIn(schema, idleMs)]
    await back.work()
    const ask = async (said: string) => (await front.agent('desk/1').ask(said)).text
    expect(await ask('one')).toBe('one')
    await copied(schema, backup)
    expect(await ask('two')).toBe('one, two')
    expect((await front.agent('desk/2').ask('later')).text).toBe('later')
    await copied(backup, schema)
    expect(await ask('three')).toBe('one, three')
    // What was made since is new.
    expect((await front.agent('desk/2').ask('again')).text).toBe('again')
    expect(await ask('four')).toBe('one, three, four')
    expect((await front.status()).letters.waiting).toBe(0)
  })

  it('restored beside a living fleet is a fleet of its own, and neither hears of the other', async () => {
    const [schema, beside] = [newSchema(), await emptyCopy()]
    const [front, back] = [fleetIn(schema, 60_000), fleetIn(schema, 60_000)]
    const worker = await back.work()
    const ask = async (fleet: Fleet, said: string) => (await fleet.agent('desk/1').ask(said)).text
    expect(await ask(front, 'one')).toBe('one')
    await copied(schema, beside)
    const other = fleetIn(beside, 60_000)
    await other.work()
    const [here, there] = await Promise.all([ask(front, 'here'), ask(other, 'there')])
    expect([here, there]).toEqual(['one, here', 'one, there'])
    expect(await ask(front, 'still here')).toBe('one, here, still here')
    expect(await worker.problem()).toBeUndefined()
    expect(await worker.metrics()).toMatchObject({ fenced: 0 })
  })
})
