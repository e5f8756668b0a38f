import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { inspect } from 'node:util'
import { EntiaError } from 'entia'
import { Client } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { guarded, PostgresServer } from './server.ts'
import { newSchema, storeIn } from './stores.ts'

const begin = { snapshot: { tick: 0, lines: ['{}'] } }
const row = (tick: number) => ({ rows: [{ tick, line: `row ${tick}` }] })
const secret = 'hunter2-secret'

/** The database of the project, reached in another way. */
function changed(change: (url: URL) => void): string {
  const url = new URL(inject('postgres'))
  change(url)
  return url.href
}

/** Runs statements as the role that may do everything. */
async function sql(...statements: readonly string[]): Promise<void> {
  const client = new Client(inject('postgres'))
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

/** How it is refused, with all that the error holds. */
async function refusal(act: () => unknown): Promise<{ readonly error: EntiaError; readonly all: string }> {
  try {
    await act()
  } catch (error) {
    if (error instanceof EntiaError) return { error, all: inspect(error, { depth: 20, showHidden: true }) }
    throw error
  }
  throw new Error('It was not refused.')
}

/** A server on loopback that is no Postgres. */
async function other(answer: (server: Server) => void): Promise<number> {
  const server = createServer()
  answer(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It has no port.')
  return address.port
}

describe('a database that cannot be used', () => {
  const addresses: readonly (readonly [what: string, database: string, code: string, todo: RegExp])[] = [
    ['a port where nothing listens', `postgres://me:${secret}@127.0.0.1:1/db`, 'store-failed', /address, network/],
    ['a host that there is not', `postgres://me:${secret}@nowhere.invalid/db`, 'store-failed', /address, network/],
    ['no address', `me:${secret}@here`, 'config-invalid', /must be such as postgres:\/\//],
    ['an address of something else', `mysql://me:${secret}@here/db`, 'config-invalid', /must be such as postgres:/],
    ['a port that is none', `postgres://me:${secret}@here:x/db`, 'config-invalid', /must be such as postgres:/],
    ['a name that cannot be decoded', `postgres://me:${secret}@here/d%zz`, 'config-invalid', /must be such as/],
    ['a password that cannot be decoded', `postgres://me:${secret}%@here/d`, 'config-invalid', /must be such as/],
  ]

  it.each(addresses)('is refused for %s, and its password is not shown', async (_, database, code, todo) => {
    const { all, error } = await refusal(() => storeIn('entia', { database }).open('a'))
    expect(error.code).toBe(code)
    expect(error.message).toMatch(todo)
    expect(all).not.toContain(secret)
  })

  it('is refused for the wrong password, without a word of it', async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.stop())
    const owner = storeIn('entia', { database: server.url() })
    await owner.transaction((client) => client.query(`CREATE ROLE ${guarded} LOGIN SUPERUSER PASSWORD '${secret}'`))
    const address = (password: string) => server.url('postgres', `${guarded}:${password}`)
    const { all, error } = await refusal(() => storeIn('entia', { database: address(`wrong-${secret}`) }).list())
    expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringContaining('Check the user and the') })
    expect(all).not.toContain(secret)
    const right = storeIn('entia', { database: address(secret), note: 'the right one' })
    const journal = await right.open('a')
    await journal.commit(begin)
    const locked = await refusal(() => owner.open('a'))
    expect([locked.all, inspect(await owner.workers()), inspect(await owner.list())].join()).not.toContain(secret)
    expect(locked.error.details['place']).toBe(`Postgres 127.0.0.1:${server.port}/postgres, schema entia`)
  })

  it('is refused where there is none of this name', async () => {
    const { error } = await refusal(() =>
      storeIn('entia', { database: changed((url) => (url.pathname = '/nix')) }).list(),
    )
    expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringContaining('Make the database') })
  })

  it('is refused where another program answers', async () => {
    const port = await other((server) =>
      server.on('connection', (socket) => {
        socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n')
      }),
    )
    const { error } = await refusal(() => storeIn('entia', { database: `postgres://127.0.0.1:${port}/db` }).list())
    expect(error.code).toBe('store-failed')
  })

  it('is refused where nobody answers, after a while', async () => {
    const port = await other((server) => server.on('connection', (socket) => socket.on('error', () => undefined)))
    const database = `postgres://127.0.0.1:${port}/db`
    const { error } = await refusal(() => storeIn('entia', { database, retryMs: 100 }).list())
    expect(error.code).toBe('store-failed')
  })

  it('is refused where text is not kept as UTF8', async () => {
    const name = newSchema()
    await sql(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
    onTestFinished(() => sql(`DROP DATABASE ${name} WITH (FORCE)`))
    const { error } = await refusal(() =>
      storeIn('entia', { database: changed((url) => (url.pathname = name)) }).list(),
    )
    expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringContaining('--encoding=UTF8') })
  })
})

describe('tables that are not of this version', () => {
  it('and are of a newer one are left as they are', async () => {
    const schema = newSchema()
    await storeIn(schema).list()
    await sql(`UPDATE ${schema}.format SET version = 99`)
    const { error } = await refusal(() => storeIn(schema).open('a'))
    expect(error).toMatchObject({ code: 'newer-version', message: expect.stringContaining('Update entia') })
  })

  it('and are of the first one are brought up to date, with all that they hold', async () => {
    const schema = newSchema()
    const before = storeIn(schema)
    await (await before.open('a')).commit(begin)
    await before.line.launch({ world: 's', root: 'a', tick: 0, lines: ['{}'], isBusy: true, tenant: 't', job: '{}' })
    await before.close()
    await sql(
      `DROP TABLE ${schema}.fleet, ${schema}.tenants, ${schema}.line_totals, ${schema}.line_changes CASCADE`,
      `DROP FUNCTION ${schema}.line_changed, ${schema}.line_emptied, ${schema}.drivers_changed, ${schema}.wake_workers CASCADE`,
      `DROP INDEX ${schema}.line_again, ${schema}.worlds_roots`,
      `ALTER TABLE ${schema}.workers DROP COLUMN waits`,
      `UPDATE ${schema}.format SET version = 1`,
    )
    const after = storeIn(schema)
    expect((await after.list()).map(({ name }) => name)).toEqual(['a', 's'])
    await after.enter()
    expect(await after.line.next({ cap: 1, room: 1 })).toMatchObject([{ world: 's', hasSlot: true }])
  })

  it.each([
    'CREATE TABLE $.worlds (id int)',
    'CREATE TABLE $.format (program text, version int)',
    "CREATE TABLE $.format (program text, version int); INSERT INTO $.format VALUES ('another', 1)",
    'CREATE TABLE $.format (other int)',
    'CREATE VIEW $.format AS SELECT 1 AS program',
  ])('and are of another program are left as they are: %s', async (tables) => {
    const schema = newSchema()
    await sql(`CREATE SCHEMA ${schema}; ${tables.replaceAll('$', schema)}`)
    const { error } = await refusal(() => storeIn(schema).open('a'))
    expect(error).toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining("another schema in 'schema'"),
    })
  })

  it.each([
    ["body = '\\x00ff'", /cannot be unpacked/],
    ['bytes = 9', /cannot be unpacked/],
    ['lines = lines + 1', /101 lines|100 lines of 101/],
  ])('and hold a snapshot that was changed name its world: %s', async (change, why) => {
    const schema = newSchema()
    const store = storeIn(schema)
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index} of a snapshot`)
    for (const world of ['a', 'b']) await (await store.open(world)).commit({ snapshot: { tick: 0, lines } })
    const { rows } = await store.transaction((client) =>
      client.query(`SELECT octet_length(body) AS size FROM ${schema}.snapshots`),
    )
    expect(Number(rows[0]?.['size'])).toBeLessThan(lines.join('').length / 2)
    await sql(`UPDATE ${schema}.snapshots SET ${change} WHERE world = 1`)
    const { error } = await refusal(() => store.read('a'))
    expect(error).toMatchObject({ code: 'corrupt-snapshot', details: { world: 'a' } })
    expect(error.message).toMatch(why)
    expect((await store.read('b'))?.snapshot.lines).toEqual(lines)
  })

  it('and lack one are named as damaged', async () => {
    const schema = newSchema()
    await storeIn(schema).list()
    await sql(`DROP TABLE ${schema}.worlds`)
    const { error } = await refusal(() => storeIn(schema).open('a'))
    expect(error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('were they changed?') })
  })
})

describe('a database that takes no writes', () => {
  const readOnly = () => changed((url) => url.searchParams.set('options', '-c default_transaction_read_only=on'))

  it('is read, and refuses what writes with what to do', async () => {
    const schema = newSchema()
    const writable = storeIn(schema)
    const journal = await writable.open('a')
    await journal.commit(begin)
    const store = storeIn(schema, { database: readOnly() })
    expect((await store.read('a'))?.snapshot.tick).toBe(0)
    expect(await store.list()).toMatchObject([{ name: 'a', heldBy: { pid: process.pid } }])
    for (const act of [
      () => store.open('b'),
      () => store.post({ world: 'a', line: 'x' }),
      () => store.putText('a', 'key', 'text'),
      () => store.appendTranscript('a', 'a.jsonl', [{ text: '{}' }], { from: 0 }),
    ]) {
      const { error } = await refusal(act)
      expect(error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('Name the primary') })
    }
    await journal.commit(row(1))
  })

  it('is refused before its first tables', async () => {
    const { error } = await refusal(() => storeIn(newSchema(), { database: readOnly() }).list())
    expect(error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('Name the primary') })
  })

  it('because its disk is full refuses those commits, and goes on when there is space', async () => {
    const schema = newSchema()
    const [store, reader] = [storeIn(schema), storeIn(schema)]
    const journal = await store.open('a')
    await journal.commit(begin)
    await sql(`
      CREATE FUNCTION ${schema}.no_space() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full';
      END $$;
      CREATE TRIGGER no_space BEFORE INSERT ON ${schema}.rows EXECUTE FUNCTION ${schema}.no_space()`)
    const { error } = await refusal(() => journal.commit(row(1)))
    expect(error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('Free space on the disk') })
    expect((await reader.read('a'))?.rows).toEqual([])
    await reader.post({ world: 'a', line: 'still heard' })
    await sql(`DROP TRIGGER no_space ON ${schema}.rows`)
    await journal.commit(row(1))
    expect((await reader.read('a'))?.rows).toHaveLength(1)
  })

  it('because its role may not is refused with the rights that it lacks', async () => {
    const schema = newSchema()
    const role = newSchema()
    await sql(`CREATE ROLE ${role} LOGIN`)
    const database = changed((url) => (url.username = role))
    const first = await refusal(() => storeIn(schema, { database }).list())
    expect(first.error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('CREATE ON DATABASE') })
    await storeIn(schema).list()
    const later = await refusal(() => storeIn(schema, { database }).open('a'))
    expect(later.error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('USAGE on the schema') })
  })

  it('for it has no connection left says so', async () => {
    const role = newSchema()
    await sql(`CREATE ROLE ${role} LOGIN SUPERUSER CONNECTION LIMIT 0`)
    await sql(`ALTER ROLE ${role} NOSUPERUSER`)
    const database = changed((url) => (url.username = role))
    const { error } = await refusal(() => storeIn(newSchema(), { database }).list())
    expect(error).toMatchObject({ code: 'store-failed', message: expect.stringContaining('max_connections') })
  })
})

describe('two that share a database', () => {
  it('under two schemas know nothing of each other', async () => {
    const [one, two] = [storeIn(newSchema()), storeIn(newSchema())]
    const heard: string[] = []
    two.on('letter', (_root, world) => heard.push(world))
    const journals = await Promise.all([one.open('a'), two.open('a')])
    await Promise.all(journals.map((journal) => journal.commit(begin)))
    await one.post({ world: 'a', line: 'to one' })
    expect(await journals[1]?.letters()).toEqual([])
    expect(await two.workers()).toHaveLength(1)
    await one.close()
    await two.delete('b').catch(() => undefined)
    expect(await two.list()).toMatchObject([{ name: 'a' }])
    expect(heard).toEqual([])
  })

  it('under one schema with other leases each have their own', async () => {
    const schema = newSchema()
    const [short, long] = [storeIn(schema, { leaseMs: 100 }), storeIn(schema, { leaseMs: 60_000 })]
    await Promise.all([short.open('a'), long.open('b')])
    await sql(`UPDATE ${schema}.workers SET seen = seen - interval '30 s'`)
    const third = storeIn(schema)
    await expect(third.open('b')).rejects.toMatchObject({ code: 'world-locked' })
  })
})
