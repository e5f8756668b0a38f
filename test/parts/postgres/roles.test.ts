import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agent, scripted, standardSystems, World } from 'entia'
import { defineFleet } from 'entia/postgres'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newSchema, storeIn } from './stores.ts'

const begin = { snapshot: { tick: 0, lines: ['{}'] } }

/** The roles as they are shown to users. */
const shown = readFileSync(join(import.meta.dirname, '../../../examples/fleet/roles.sql'), 'utf8')

/** The statements about one of these roles, for a role and a schema of other names. */
function rightsOf(which: string, schema: string, role: string): string {
  const statements = shown.replaceAll(/^--.*$/gm, '').split(';')
  const its = statements.filter((statement) => statement.includes(which))
  return its.map((statement) => `${statement.replaceAll(which, role).replaceAll(/\bentia\b/g, schema)};`).join('')
}

/** The address of the database for a new role with the rights of one of these in a schema. */
async function addressOf(schema: string, which: string): Promise<string> {
  await storeIn(schema).list()
  const role = newSchema()
  const client = new Client(inject('postgres'))
  await client.connect()
  await client.query(rightsOf(which, schema, role))
  await client.end()
  const url = new URL(inject('postgres'))
  url.username = role
  return url.href
}

describe('a role that may only post and read', () => {
  it('posts letters, reads and hears of worlds, and writes nothing else', async () => {
    const schema = newSchema()
    const poster = storeIn(schema, { database: await addressOf(schema, 'entia_front') })
    const worker = storeIn(schema, { database: await addressOf(schema, 'entia_worker') })
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
      () => poster.line.next({ cap: 1, room: 1 }),
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
    const fleets = [await addressOf(schema, 'entia_front'), await addressOf(schema, 'entia_worker')].map((database) => {
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
    expect((await fleets[0]?.agent('desk/1').ask('Hello?'))?.text).toBe('At your service.')
    expect((await fleets[0]?.status())?.workers).toHaveLength(1)
    await expect(fleets[0]?.work()).rejects.toMatchObject({ code: 'store-failed' })
  })
})

describe('a role that may work', () => {
  it('cannot change the tables, nor read those of another schema', async () => {
    const [schema, other] = [newSchema(), newSchema()]
    await storeIn(other).list()
    const database = await addressOf(schema, 'entia_worker')
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
