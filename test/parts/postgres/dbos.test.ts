import { DBOSClient } from '@dbos-inc/dbos-sdk'
import { dbosDispatcher } from 'entia/dbos'
import { defineFleet } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { describeDispatchers } from '../../contracts/dispatcher-suite.ts'
import { clerks, type ClerksOptions } from './clerks.ts'
import { desk, models } from './desk.ts'
import { seatsOver } from './seat-process.ts'
import { newSchema, storeIn } from './stores.ts'
import { WorkerProcesses } from './worker-process.ts'

describeDispatchers([{ name: 'dbosDispatcher', make: (options) => seatsOver({ ...options, dispatcher: 'dbos' }) }])

/** A program that speaks to the worlds of a fleet and drives none, and those that drive them. */
function fleetOf(options: Partial<ClerksOptions> = {}) {
  const all: ClerksOptions = { database: inject('postgres'), schema: newSchema(), dispatcher: 'dbos', ...options }
  const front = clerks(all)
  const workers = new WorkerProcesses(all)
  onTestFinished(async () => {
    await workers.end()
    await front.close()
  })
  return { front, schema: all.schema ?? '', workers }
}

async function dbosClient(): Promise<DBOSClient> {
  const client = await DBOSClient.create({ systemDatabaseUrl: inject('postgres'), applicationName: 'entia' })
  onTestFinished(() => client.destroy())
  return client
}

describe('a fleet with the queue of DBOS', () => {
  it('answers for all its sessions while workers are killed, and runs no tool of class once twice', async () => {
    const { front, schema, workers } = fleetOf({ maxSessions: 4, workMs: 20, steps: 4 })
    await Promise.all([workers.start(), workers.start()])
    for (let round = 0; round < 3; round++) {
      const jobs = Array.from({ length: 6 }, (_, job) => `${round}-${job}`)
      const asked = front.agent(`desk/${round}`).ask(`Jobs: ${jobs.join(' ')}`)
      const { pid } = await workers.says((said) => said.what === 'tool' && said.step === 1)
      await workers.running.find((each) => each.pid === pid)?.kill()
      await workers.start()
      expect((await asked).text).toBe(jobs.map((job) => `${job} done`).join('; '))
    }
    expect(workers.doubles('once')).toEqual([])
    await expect.poll(async () => (await front.status()).sessions).toEqual([])
    // Each session is one workflow, and its end is the workflow's.
    const workflows = await (await dbosClient()).listWorkflows({ workflow_id_prefix: `${schema}/desk/` })
    expect(workflows.map(({ status }) => status)).toEqual(Array.from({ length: 18 }, () => 'SUCCESS'))
    expect(workflows.every(({ workflowID }) => /^\w+\/desk\/\d\/session-\w+$/.test(workflowID))).toBe(true)
  })

  it('shows who has a slot and who waits, as workflows that are PENDING and ENQUEUED', async () => {
    const { front, schema, workers } = fleetOf({ maxSessions: 2, workMs: 600_000 })
    expect((await front.status()).sessions).toEqual([])
    await workers.start()
    await front.agent('desk/1').message('Jobs: a b c')
    await expect
      .poll(async () => (await front.status()).sessions.map(({ hasSlot, wantsSlot }) => ({ hasSlot, wantsSlot })))
      .toEqual([
        { hasSlot: true, wantsSlot: false },
        { hasSlot: true, wantsSlot: false },
        { hasSlot: false, wantsSlot: true },
      ])
    const workflows = await (await dbosClient()).listWorkflows({ workflow_id_prefix: `${schema}/` })
    expect(workflows.map(({ status }) => status).toSorted()).toEqual(['ENQUEUED', 'PENDING', 'PENDING'])
    expect(workflows[0]).toMatchObject({
      applicationName: 'entia',
      queueName: `${schema}-sessions`,
      input: ['desk/1', expect.stringMatching(/^session-/)],
    })
  })

  it('has workers of one process beside each other', async () => {
    const options = { database: inject('postgres'), schema: newSchema(), worlds: { desk }, models }
    const fleet = defineFleet({ ...options, dispatcher: dbosDispatcher() })
    onTestFinished(() => fleet.close())
    const workers = [await fleet.work(), await fleet.work()]
    expect((await fleet.agent('desk/1').ask('Hello')).text).toBe('Heard: Hello')
    expect(await workers[1]?.metrics()).toMatchObject({ workersAlive: 2, sessionsRunning: 0, sessionsWaiting: 0 })
  })

  it('gives the next slot to the tenant with the fewest, and none more than its cap', async () => {
    const { dispatcher, launch } = await queueIn()
    await launch('a1', 'a')
    await launch('a2', 'a')
    await launch('a3', 'a')
    await launch('b1', 'b')
    const next = async (tenantCap?: number) =>
      (await dispatcher.next({ cap: 5, room: 1, ...(tenantCap !== undefined && { tenantCap }) })).map(
        ({ world }) => world,
      )
    expect([await next(), await next(), await next(2), await next(2)]).toEqual([['a1'], ['b1'], ['a2'], []])
    expect(await next(3)).toEqual(['a3'])
  })

  it('launches a session anew that was withdrawn', async () => {
    const { dispatcher, launch } = await queueIn()
    await launch('a', '')
    expect(await dispatcher.withdraw('a', 'desk')).toBe(true)
    await launch('a', '')
    expect(await dispatcher.next({ cap: 5, room: 5 })).toMatchObject([{ world: 'a', root: 'desk', hasSlot: true }])
  })

  it('wakes of the sessions that rest those alone that it is asked to', async () => {
    const { dispatcher, launch, store } = await queueIn()
    const places: string[] = []
    const deaf = store.peers.onLetters((each) => places.push(...each))
    for (const world of ['a', 'b']) {
      await launch(world, '')
      const [claim] = await dispatcher.next({ cap: 5, room: 5 })
      if (claim !== undefined) await dispatcher.rest(claim)
      await store.post({ world, root: 'desk', line: '{}' })
    }
    await expect.poll(() => places).toHaveLength(2)
    deaf()
    await dispatcher.wake(places.slice(1))
    expect(await dispatcher.next({ cap: 5, room: 0 })).toMatchObject([{ world: 'b', hasSlot: false }])
    await dispatcher.wake()
    expect(await dispatcher.next({ cap: 5, room: 0 })).toMatchObject([{ world: 'a', hasSlot: false }])
  })

  it('gives one suspect at a time, and none beside another', async () => {
    const { dispatcher, launch, schema, store } = await queueIn()
    for (const world of ['a', 'b', 'c']) await launch(world, '')
    for (const claim of await dispatcher.next({ cap: 5, room: 5 })) await dispatcher.putBack(claim)
    await store.transaction((client) =>
      client.query(`UPDATE ${schema}.worlds SET strikes = '{7,8}' WHERE name IN ('a', 'b')`),
    )
    const next = async (most: 0 | 1) =>
      (await dispatcher.next({ cap: 5, room: 5, suspects: { from: 2, below: 5, most } })).map(
        ({ strikes, world }) => `${world} ${strikes}`,
      )
    expect([await next(0), await next(1), await next(1)]).toEqual([['c 0'], ['a 2'], ['b 2']])
  })
})

/** A queue with one worker, and no one who drives what it gives. */
async function queueIn() {
  const schema = newSchema()
  const store = storeIn(schema)
  const dispatcher = dbosDispatcher().open({ store, database: inject('postgres'), schema })
  onTestFinished(() => dispatcher.close())
  await store.enter('{}')
  const launch = (world: string, tenant: string) =>
    dispatcher.launch({ world, root: 'desk', tick: 0, lines: ['{}'], tenant, job: '{}' })
  return { dispatcher, launch, schema, store }
}
