import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { DBOS } from '@dbos-inc/dbos-sdk'
import { dbosDispatcher } from 'entia/dbos'
import { defineFleet, type Fleet, type FleetOptions, postgresDispatcher } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { tempFolder } from '../../tools/temp-folder.ts'
import { clerks } from './clerks.ts'
import { desk, models } from './desk.ts'
import { Pooler } from './pooler.ts'
import { asked, newDatabase, newSchema, storeIn } from './stores.ts'

function fleetWith(options: Partial<FleetOptions> = {}): Fleet {
  const database = inject('postgres')
  const all = { database, schema: newSchema(), worlds: { desk }, models, dispatcher: dbosDispatcher(), ...options }
  const fleet = defineFleet(all)
  onTestFinished(() => fleet.close())
  return fleet
}

const statuses = `SELECT concat_ws(' ', application_name, name, status) AS text, executor_id FROM dbos.workflow_status ORDER BY 1`

describe('the queue of DBOS', { timeout: 60_000 }, () => {
  it('has its tables made once, however many workers start at once, and waits for none of their transactions', async () => {
    const database = await newDatabase()
    const fleets = [1, 2, 3, 4].map(() => fleetWith({ database, schema: 'entia' }))
    await Promise.all(fleets.map((fleet) => fleet.work()))
    expect((await fleets[0]?.agent('desk/1').ask('Hello'))?.text).toBe('Heard: Hello')
    expect(await asked(database, 'SELECT count(*)::integer AS versions FROM dbos.dbos_migrations')).toEqual([
      { versions: 1 },
    ])
  })

  it('needs no more than the two connections that the store has, and keeps none of its own', async () => {
    const database = await newDatabase()
    const fleet = clerks({ database, maxSessions: 2, dispatcher: 'dbos', workMs: 0, maxConnections: 0 })
    onTestFinished(() => fleet.close())
    const worker = await fleet.work()
    expect((await fleet.agent('desk/1').ask('Jobs: a b c')).text).toBe('a done; b done; c done')
    const all = `SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'dbos%'`
    expect(await asked(database, all)).toEqual([])
    await worker.stop()
  })

  it('asks nothing of a pooler of transactions that belongs to a connection', async () => {
    const direct = await newDatabase()
    const pooler = await Pooler.start(direct, 3)
    onTestFinished(() => pooler.close())
    const fleet = clerks({ database: pooler.url, direct, maxSessions: 2, dispatcher: 'dbos', workMs: 0 })
    onTestFinished(() => fleet.close())
    await fleet.work()
    expect((await fleet.agent('desk/1').ask('Jobs: a b c')).text).toBe('a done; b done; c done')
    expect(pooler.refused).toEqual([])
  })

  it('is beside the DBOS that the program runs itself, with the same tables or with others', async () => {
    const database = await newDatabase()
    const ignore = () => undefined
    const logger = { info: ignore, debug: ignore, warn: ignore, error: ignore }
    const greet = DBOS.registerWorkflow(async (name: string) => `Good day, ${name}.`, { name: 'greet' })
    for (const [round, systemDatabaseSchemaName] of ['dbos', 'theirs'].entries()) {
      // Its timeout makes the driver warn.
      const quiet = { logger, systemDatabaseIdleTransactionTimeoutMs: 0 }
      DBOS.setConfig({ name: 'shop', systemDatabaseUrl: database, systemDatabaseSchemaName, ...quiet })
      const fleet = clerks({ database, dispatcher: 'dbos', workMs: 0 })
      if (round === 1) await DBOS.launch()
      const worker = await fleet.work()
      if (round === 0) await DBOS.launch()
      try {
        const greeted = await DBOS.startWorkflow(greet)('Ada')
        expect((await fleet.agent(`desk/${round}`).ask('Jobs: a b')).text).toBe('a done; b done')
        expect(await greeted.getResult()).toBe('Good day, Ada.')
        await worker.stop()
      } finally {
        await DBOS.shutdown()
        await fleet.close()
      }
    }
    const rows = await asked(database, statuses)
    expect(rows.map(({ text }) => text)).toEqual([
      ...Array.from({ length: 4 }, () => 'entia entiaSession SUCCESS'),
      'shop greet SUCCESS',
    ])
    expect(rows.slice(0, 4).every(({ executor_id: executor }) => /^entia-\d+$/.test(String(executor)))).toBe(true)
  })

  it('is of one fleet: another one in the same database has its own', async () => {
    const database = await newDatabase()
    const options = { database, dispatcher: 'dbos', workMs: 0 } as const
    const fleets = [clerks({ ...options, schema: 'one' }), clerks({ ...options, schema: 'two' })]
    for (const fleet of fleets) onTestFinished(() => fleet.close())
    await Promise.all(fleets.map((fleet) => fleet.work()))
    const answers = await Promise.all(fleets.map((fleet) => fleet.agent('desk/1').ask('Jobs: a b')))
    expect(answers.map(({ text }) => text)).toEqual(['a done; b done', 'a done; b done'])
    const queues = `SELECT queue_name, count(*)::integer AS sessions FROM dbos.workflow_status GROUP BY 1 ORDER BY 1`
    expect(await asked(database, queues)).toEqual([
      { queue_name: 'one-sessions', sessions: 2 },
      { queue_name: 'two-sessions', sessions: 2 },
    ])
  })

  it('is that of all workers of a fleet: one with the other dispatcher is refused, and told what to do', async () => {
    const schema = newSchema()
    const [ours, theirs] = [fleetWith({ schema }), fleetWith({ schema, dispatcher: postgresDispatcher() })]
    const worker = await ours.work()
    await expect(theirs.work()).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(
        /1 of .* have the dispatcher 'dbos', and this one has 'postgres'.*end those workers/,
      ),
    })
    // It leaves nothing behind that would keep others out.
    expect(await ours.work()).toBeDefined()
    await worker.stop()
  })

  it('is not begun while sessions are in the queue of before', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    await store.line.launch({ world: 's', root: 'desk', tick: 0, lines: ['{}'], tenant: '', job: '{}' })
    await expect(fleetWith({ schema }).work()).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(/^fleet\.work: 1 sessions .* in the queue of 'postgres'.*Let workers/),
    })
    expect(await store.line.withdraw('s', 'desk')).toBe(true)
    expect(await fleetWith({ schema }).work()).toBeDefined()
  })

  it('refuses tables that are not those of DBOS, rights that are missing, and the schema of worlds', async () => {
    const database = await newDatabase()
    await asked(database, 'CREATE SCHEMA other; CREATE TABLE other.workflow_status (id integer)')
    const other = fleetWith({ database, dispatcher: dbosDispatcher({ schema: 'other' }) })
    await expect(other.work()).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(/cannot use the tables of DBOS, schema other: .*does not exist/),
    })
    const same = fleetWith({ database, schema: 'same', dispatcher: dbosDispatcher({ schema: 'same' }) })
    await expect(same.work()).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(/must be in another schema than those of worlds, got 'same' for both/),
    })
    const role = newSchema()
    await asked(database, `CREATE ROLE ${role} LOGIN; CREATE SCHEMA theirs AUTHORIZATION ${role}`)
    onTestFinished(async () => void (await asked(database, `DROP OWNED BY ${role}; DROP ROLE ${role}`)))
    const address = Object.assign(new URL(database), { username: role }).href
    await expect(fleetWith({ database: address, schema: 'theirs' }).work()).rejects.toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(/the tables of DBOS, schema dbos: permission denied.*Give the role/),
    })
  })

  it('is let go of in any order: before it is used, with sessions under way, and twice', async () => {
    await fleetWith().close()
    const database = await newDatabase()
    const options = { database, schema: newSchema(), dispatcher: 'dbos', workMs: 5 } as const
    const [fleet, next] = [clerks(options), clerks(options)]
    for (const each of [fleet, next]) onTestFinished(() => each.close())
    const worker = await fleet.work()
    await fleet.agent('desk/1').message('Jobs: a b c')
    await expect.poll(async () => (await fleet.status()).sessions.some(({ hasSlot }) => hasSlot)).toBe(true)
    await Promise.all([fleet.close(), worker.stop(), fleet.close()])
    await next.work()
    expect((await next.agent('desk/1').ask('Hello')).text).toContain('Hello')
    await expect.poll(async () => (await next.status()).sessions).toEqual([])
  })

  it('shows nothing before it is there, and makes no tables to look', async () => {
    const database = await newDatabase()
    const fleet = fleetWith({ database })
    expect((await fleet.status()).sessions).toEqual([])
    expect(await asked(database, `SELECT to_regclass('dbos.workflow_status') AS there`)).toEqual([{ there: null }])
  })

  it('says what to type where its package is not installed', async () => {
    const folder = await tempFolder()
    const doors = ['dbos/index.ts', 'postgres/index.ts'].map((path) =>
      JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../../src/doors', path)).href),
    )
    const text = `
      import { registerHooks } from 'node:module'
      registerHooks({
        resolve(name, context, next) {
          if (!name.startsWith('@dbos-inc/dbos-sdk')) return next(name, context)
          throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: 'ERR_MODULE_NOT_FOUND' })
        },
      })
      const { dbosDispatcher } = await import(${doors[0]})
      const { defineFleet } = await import(${doors[1]})
      const fleet = defineFleet({ database: ${JSON.stringify(inject('postgres'))}, schema: '${newSchema()}', worlds: {}, dispatcher: dbosDispatcher() })
      const { code, message } = await fleet.work().catch((error) => error)
      console.log(JSON.stringify({ code, message }))
      await fleet.close()`
    await writeFile(join(folder, 'program.mjs'), text)
    const words = ['--conditions=entia-source', join(folder, 'program.mjs')]
    const { stderr, stdout } = await promisify(execFile)(process.execPath, words)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      code: 'missing-peer',
      message:
        'dbosDispatcher needs the package @dbos-inc/dbos-sdk, and @dbos-inc/dbos-sdk is not installed. Type: npm install @dbos-inc/dbos-sdk',
    })
  })
})
