import { agent, scripted, standardSystems, World } from 'entia'
import { defineFleet } from 'entia/postgres'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newSchema, storeIn } from './stores.ts'

const begin = { snapshot: { tick: 0, lines: ['{}'] } }

/** The rights of who works: it needs no right to make tables once they are there. */
const workerRights = (schema: string, role: string): string => `
  GRANT USAGE ON SCHEMA ${schema} TO ${role};
  GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role};
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${role};`

/** The rights of who only posts letters and reads. */
const posterRights = (schema: string, role: string): string => `
  GRANT USAGE ON SCHEMA ${schema} TO ${role};
  GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO ${role};
  GRANT INSERT ON ${schema}.mail TO ${role};
  GRANT INSERT, UPDATE ON ${schema}.senders TO ${role};
  GRANT EXECUTE ON FUNCTION ${schema}.place_world TO ${role};`

/** The address of the database for a new role with these rights in a schema. */
async function addressOf(schema: string, rights: (schema: string, role: string) => string): Promise<string> {
  await storeIn(schema).list()
  const role = newSchema()
  const client = new Client(inject('postgres'))
  await client.connect()
  await client.query(`CREATE ROLE ${role} LOGIN; ${rights(schema, role)}`)
  await client.end()
  const url = new URL(inject('postgres'))
  url.username = role
  return url.href
}

describe('a role that may only post and read', () => {
  it('posts letters, reads and hears of worlds, and writes nothing else', async () => {
    const schema = newSchema()
    const poster = storeIn(schema, { database: await addressOf(schema, posterRights) })
    const worker = storeIn(schema, { database: await addressOf(schema, workerRights) })
    const journal = await worker.open('a')
    await journal.commit(begin)
    const heard = new Promise<string>((resolve) => void poster.on('letter', (_root, world) => resolve(world)))
    await poster.post({ world: 'a', line: 'hello', id: 'once' })
    await poster.post({ world: 'a', line: 'again', id: 'once' })
    expect(await heard).toBe('a')
    expect((await journal.letters()).map(({ line }) => line)).toEqual(['hello'])
    expect((await poster.read('a'))?.snapshot.tick).toBe(0)
    expect(await poster.rows('a', { after: 0 })).toEqual([])
    expect(await poster.ticks([{ world: 'a' }])).toEqual([0])
    expect(await poster.list()).toMatchObject([{ name: 'a', letters: 1 }])
    expect(await poster.workers()).toHaveLength(1)
    const first = { world: 'a', root: 'a', tick: 7, lines: ['of somebody else'] }
    expect(await poster.transaction((client) => poster.place(first, client))).toBe(false)
    const refused = [
      () => poster.open('a', { seize: true }),
      () => poster.open('b'),
      () => poster.delete('a'),
      () => poster.putText('a', 'key', 'text'),
      () => poster.appendTranscript('a', 'a.jsonl', [{ text: '{}' }], { from: 0 }),
      () => poster.hold('a', { reason: 'for fun' }),
      () => poster.release('a'),
      () => poster.sweep(),
      () => poster.enter(),
      () => poster.line.next(1),
      () => poster.transaction((client) => client.query(`DELETE FROM ${schema}.mail`)),
      () => poster.transaction((client) => client.query(`UPDATE ${schema}.mail SET body = ''`)),
      () => poster.transaction((client) => client.query(`UPDATE ${schema}.worlds SET epoch = epoch + 1`)),
    ]
    for (const act of refused)
      await expect(act()).rejects.toMatchObject({ code: 'store-failed', details: { state: '42501' } })
    await journal.commit({ rows: [{ tick: 1, line: 'undisturbed' }] })
  })

  it('asks worlds of a fleet that others drive', async () => {
    const schema = newSchema()
    const fleets = [await addressOf(schema, posterRights), await addressOf(schema, workerRights)].map((database) => {
      const fleet = defineFleet({
        database,
        schema,
        worlds: {
          desk: (name) => {
            const world = new World({ name, systems: standardSystems() })
            world.spawn(...agent({ model: 'script/x' }))
            return world
          },
        },
        models: { script: scripted(() => 'At your service.') },
      })
      onTestFinished(() => fleet.close())
      return fleet
    })
    await fleets[1]?.work()
    expect((await fleets[0]?.world('desk/1').ask('Hello?'))?.text).toBe('At your service.')
    expect((await fleets[0]?.status())?.workers).toHaveLength(1)
    await expect(fleets[0]?.work()).rejects.toMatchObject({ code: 'store-failed' })
  })
})

describe('a role that may work', () => {
  it('cannot change the tables, nor read those of another schema', async () => {
    const [schema, other] = [newSchema(), newSchema()]
    await storeIn(other).list()
    const database = await addressOf(schema, workerRights)
    const worker = storeIn(schema, { database })
    const journal = await worker.open('a')
    await journal.commit(begin)
    await journal.close()
    await worker.delete('a')
    for (const statement of [`DROP TABLE ${schema}.mail`, `SELECT * FROM ${other}.worlds`]) {
      const act = worker.transaction((client) => client.query(statement))
      await expect(act).rejects.toMatchObject({ code: 'store-failed', details: { state: '42501' } })
    }
    await expect(storeIn(other, { database }).list()).rejects.toMatchObject({ details: { state: '42501' } })
  })
})
