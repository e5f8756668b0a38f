import { defineFleet, type Fleet, type FleetOptions } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { clerks } from './clerks.ts'
import { desk, models } from './desk.ts'
import { type Mishap, Proxy } from './proxy.ts'
import { newSchema, storeIn } from './stores.ts'

async function proxyToServer(): Promise<Proxy> {
  const proxy = await Proxy.start(inject('postgres'))
  onTestFinished(() => proxy.close())
  return proxy
}

function closed(fleet: Fleet): Fleet {
  onTestFinished(() => fleet.close())
  return fleet
}

const lost: readonly Mishap[] = ['answer lost', 'query lost', 'query late']

describe('a session that a worker was given', () => {
  it.each(lost)('is driven too where the worker does not know it: %s', async (what) => {
    const proxy = await proxyToServer()
    const options = { schema: newSchema(), maxSessions: 1 }
    const front = closed(clerks({ ...options, database: inject('postgres') }))
    await front.status()
    const jobs = ['a', 'b', 'c', 'd', 'e', 'f']
    const asked = front.agent('desk/1').ask(`Jobs: ${jobs.join(' ')}`)
    await closed(clerks({ ...options, database: proxy.url })).work()
    await vi.waitFor(async () => expect((await front.status()).sessions.length).toBeGreaterThan(3), {
      interval: 5,
      timeout: 20_000,
    })
    await proxy.next(what, 'entia-line-next')
    await proxy.deliver()
    expect((await asked).text).toBe(jobs.map((job) => `${job} done`).join('; '))
    await vi.waitFor(async () => expect((await front.status()).sessions).toEqual([]), { timeout: 5_000 })
  })
})

describe('a root world', () => {
  it('that its worker has taken without knowing it is free again after a sweep, and due', async () => {
    const schema = newSchema()
    const proxy = await proxyToServer()
    const [store, direct] = [storeIn(schema, { database: proxy.url }), storeIn(schema)]
    await store.enter()
    const late = proxy.next('query late', 'entia-take')
    const opening = store.open('a')
    await late
    const journal = await opening
    await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
    await journal.close()
    await proxy.deliver()
    await expect(direct.open('a')).rejects.toMatchObject({ code: 'world-locked' })
    await store.sweep()
    expect(await direct.due(10)).toMatchObject([{ name: 'a' }])
    await direct.open('a')
  })

  it('that is open, or is being opened, is not freed by a sweep', async () => {
    const schema = newSchema()
    const [store, other] = [storeIn(schema), storeIn(schema)]
    const journals = Array.from({ length: 20 }, (_, world) => store.open(`${world}`))
    await Promise.all([store.sweep(), ...journals, store.sweep()])
    for (const world of journals.keys())
      await expect(other.open(`${world}`)).rejects.toMatchObject({ code: 'world-locked' })
  })

  it('that begins to work just when it is to be parked is not left by all workers', async () => {
    const schema = newSchema()
    const options: FleetOptions = { database: inject('postgres'), schema, worlds: { desk }, models, idleMs: 1 }
    const fleet = closed(defineFleet(options))
    await fleet.status()
    // The commit of each tick takes longer than a world may be idle, so that it is to be parked in the midst of one.
    await fleet.store.transaction((client) =>
      client.query(`
        CREATE FUNCTION ${schema}.slowly() RETURNS trigger LANGUAGE plpgsql
          AS $$ BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END $$;
        CREATE TRIGGER slowly BEFORE INSERT ON ${schema}.rows FOR EACH ROW EXECUTE FUNCTION ${schema}.slowly()`),
    )
    await fleet.work()
    expect((await fleet.agent('desk/1').ask('Hello.')).text).toBe('Heard: Hello.')
    expect((await fleet.agent('desk/1').ask('And now?')).text).toBe('Heard: And now?')
  })
})

describe('a process that hangs in a transaction', () => {
  it('keeps others from what it has locked for its lease and no longer', async () => {
    const schema = newSchema()
    const [hung, other] = [storeIn(schema, { leaseMs: 500 }), storeIn(schema)]
    const placement = { world: 'a', root: 'a', tick: 0, lines: ['{}'], isBusy: false }
    await other.list()
    const [locked, wakes] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const hanging = hung.transaction(async (client) => {
      await hung.place(placement, client)
      locked.resolve()
      await wakes.promise
    })
    const refused = hanging.catch((error: unknown) => error)
    await locked.promise
    expect(await other.transaction((client) => other.place(placement, client))).toBe(true)
    wakes.resolve()
    expect(await refused).toMatchObject({ code: 'store-failed' })
  })
})

describe('letters to a session that has ended', () => {
  it('go after a while; those to one at work or in line stay', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const [ended, held] = await Promise.all(['ended', 'held'].map((world) => store.open(world, { root: 'a' })))
    for (const journal of [ended, held]) await journal?.commit({ snapshot: { tick: 0, lines: ['{}'] } })
    await ended?.close()
    await store.line.launch({ world: 'in line', root: 'a', tick: 0, lines: ['{}'], tenant: '', job: '{}' })
    for (const world of ['ended', 'held', 'in line', 'a']) await store.post({ world, root: 'a', line: world })
    await store.sweep()
    expect(await store.totals()).toMatchObject({ lettersWaiting: 4 })
    await store.transaction((client) => client.query(`UPDATE ${schema}.mail SET at = at - interval '11 minutes'`))
    await store.sweep()
    const left = await store.transaction((client) => client.query(`SELECT name FROM ${schema}.mail ORDER BY id`))
    expect(left.rows).toEqual([{ name: 'held' }, { name: 'in%0020line' }, { name: 'a' }])
  })
})
