import { EntiaError, agent, scripted, standardSystems, World } from 'entia'
import { defineFleet, type Fleet, type FleetOptions, type PostgresStore } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { newSchema, storeIn } from './stores.ts'

const begin = { snapshot: { tick: 0, lines: ['{}'] } }
const row = (tick: number, line = `row ${tick}`) => ({ rows: [{ tick, line }] })

async function linesTo(store: PostgresStore, world: string): Promise<readonly string[]> {
  const journal = await store.open(world)
  const letters = await journal.letters()
  await journal.close()
  return letters.map(({ line }) => line)
}

describe('a letter', () => {
  it('of 50 MB is refused with the limit and what to do, and those posted with it arrive', async () => {
    const store = storeIn(newSchema())
    const ends = await Promise.allSettled([
      store.post({ world: 'a', line: 'before' }),
      store.post({ world: 'a', line: 'x'.repeat(50_000_000) }),
      store.post({ world: 'a', line: 'behind' }),
    ])
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(ends[1]).toMatchObject({
      reason: {
        code: 'invalid-argument',
        message: expect.stringMatching(/at most 4000000 bytes, got 50000000. Keep it with store.putText/),
      },
    })
    expect(await linesTo(store, 'a')).toEqual(['before', 'behind'])
  })

  it('of 50 MB that a tick sends refuses the tick, and the world goes on', async () => {
    const store = storeIn(newSchema())
    const journal = await store.open('a')
    await journal.commit(begin)
    const late = journal.commit({ ...row(1), sent: [{ world: 'b', line: 'x'.repeat(50_000_000) }] })
    await expect(late).rejects.toMatchObject({ code: 'invalid-argument' })
    await journal.commit(row(1))
    expect((await journal.load())?.rows).toEqual(row(1).rows)
  })

  it('of the largest size goes through, with 20 of them at once', async () => {
    const store = storeIn(newSchema())
    const line = 'ä'.repeat(2_000_000)
    await Promise.all(Array.from({ length: 20 }, () => store.post({ world: 'a', line })))
    const lines = await linesTo(store, 'a')
    expect(lines.length).toBe(20)
    expect(lines.every((one) => one === line)).toBe(true)
  })

  it('one of 10,000 to the same world keeps its place, and other worlds are written meanwhile', async () => {
    const schema = newSchema()
    const [sender, other] = [storeIn(schema), storeIn(schema)]
    const journal = await other.open('other')
    await journal.commit(begin)
    const texts = Array.from({ length: 10_000 }, (_, index) => `letter ${index}`)
    const order: string[] = []
    const sent = Promise.all(texts.map((line) => sender.post({ world: 'a', line }))).then(() => order.push('letters'))
    await journal.commit(row(1))
    order.push('tick')
    await sent
    expect(order).toEqual(['tick', 'letters'])
    const world = await sender.open('a')
    expect((await world.letters(3)).map(({ line }) => line)).toEqual(texts.slice(0, 3))
    const letters = await world.letters()
    expect(letters.map(({ line }) => line)).toEqual(texts)
    await world.commit({ ...begin, taken: letters.map(({ id }) => id) })
    expect(await world.letters()).toEqual([])
  })

  it('to nobody waits, makes that world due once, and goes with it when it is deleted', async () => {
    const store = storeIn(newSchema())
    for (const line of ['one', 'two']) await store.post({ world: 'nobody', line })
    expect(await store.due(10)).toMatchObject([{ name: 'nobody', root: 'nobody', epoch: 0, strikes: 0 }])
    expect(await store.due(10, { except: ['nobody'] })).toEqual([])
    expect(await store.totals()).toMatchObject({ lettersWaiting: 2 })
    await store.delete('nobody')
    expect(await store.totals()).toMatchObject({ lettersWaiting: 0, oldestLetterMs: 0 })
    expect(await store.due(10)).toEqual([])
  })

  it('to a world that was deleted waits for the next of that name', async () => {
    const store = storeIn(newSchema())
    const journal = await store.open('a')
    await journal.commit(begin)
    await journal.close()
    await store.delete('a')
    await store.post({ world: 'a', line: 'late' })
    expect(await linesTo(store, 'a')).toEqual(['late'])
    expect(await store.read('a')).toBeUndefined()
  })

  it('to a session that has ended goes with a sweep, once nobody can launch it again', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const journal = await store.open('session', { root: 'a' })
    await journal.commit({ ...begin, isBusy: false })
    await journal.close()
    await store.post({ root: 'a', world: 'session', line: 'late' })
    await store.post({ world: 'a', line: 'to its root' })
    await store.sweep()
    expect(await store.totals()).toMatchObject({ lettersWaiting: 2 })
    await store.transaction((client) => client.query(`UPDATE ${schema}.mail SET at = at - interval '11 minutes'`))
    await store.sweep()
    expect(await store.totals()).toMatchObject({ lettersWaiting: 1 })
    expect(await linesTo(store, 'a')).toEqual(['to its root'])
  })

  it.each(['half \ud800', '\udc00 half', 'two\nlines'])('that is no line of text is refused: %j', async (line) => {
    const store = storeIn(newSchema())
    const journal = await store.open('a')
    const refused = [store.post({ world: 'a', line }), journal.commit({ ...begin, ...row(1, line) })]
    for (const end of await Promise.allSettled(refused)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'invalid-argument' } })
      expect(end.status === 'rejected' && end.reason).toBeInstanceOf(EntiaError)
    }
    await store.post({ world: 'a', line: 'sound' })
    expect(await store.totals()).toMatchObject({ lettersWaiting: 1 })
  })
})

describe('names and texts that databases do not take', () => {
  const hostile = [
    'a\0b',
    '\ud800',
    "'; DROP SCHEMA public; --",
    '%',
    '"',
    '\u202e',
    'x'.repeat(100_000),
    'a/b',
    '..',
    '{}',
  ]

  it.each(hostile.map((name) => [JSON.stringify(name).slice(0, 40), name] as const))(
    'are kept as they are: %s',
    async (_, name) => {
      const schema = newSchema()
      const [store, other] = [storeIn(schema), storeIn(schema)]
      const text = name.toWellFormed()
      const journal = await store.open(name, { root: name, holder: name })
      await journal.commit({ snapshot: { tick: 0, lines: [text] }, ...row(1, text) })
      await store.post({ world: name, line: text, id: name })
      await store.post({ world: name, line: 'again', id: name })
      await store.putText(name, text, text)
      await store.appendTranscript(name, 'a.jsonl', [{ text, searchable: `${text} needle` }], { from: 0 })
      expect(await other.read(name)).toEqual({ snapshot: { tick: 0, lines: [text] }, rows: row(1, text).rows })
      expect((await journal.letters()).map(({ line }) => line)).toEqual([text])
      expect(await other.getText(name, text)).toBe(text)
      expect(await other.searchTranscript(name, ['a.jsonl'], 'needle', { limit: 1 })).toMatchObject([{ text }])
      expect(await other.list()).toMatchObject([{ name, tick: 1, letters: 1, heldBy: { holder: text } }])
      await expect(other.open(name)).rejects.toMatchObject({ code: 'world-locked' })
      await store.hold(name, { reason: text })
      await store.release(name)
      await journal.close({ wakeAtMs: 1 })
      expect(await other.due(2)).toMatchObject([{ name }])
      await other.delete(name)
      expect(await other.list()).toEqual([])
    },
  )
})

describe('two fleets on the same tables', () => {
  const make = (name: string) => {
    const world = new World({ name, systems: standardSystems() })
    world.spawn(...agent({ model: 'script/x' }))
    return world
  }

  function fleetIn(schema: string, kind: string, options: Partial<FleetOptions> = {}): Fleet {
    const fleet = defineFleet({
      database: inject('postgres'),
      schema,
      worlds: { [kind]: make },
      models: { script: scripted(() => `${kind} answers`) },
      idleMs: 50,
      ...options,
    })
    onTestFinished(() => fleet.close())
    return fleet
  }

  it('leave worlds to each other that only the other can make', async () => {
    const schema = newSchema()
    const [shop, site] = [fleetIn(schema, 'shop', { maxSessions: 1 }), fleetIn(schema, 'site', { leaseMs: 2_000 })]
    const unfit: string[] = []
    const answers = [1, 2, 3, 4].flatMap((number) => [
      shop.agent(`shop/${number}`).ask('Hello?'),
      site.agent(`site/${number}`).ask('Hello?'),
    ])
    await shop.work({ unfit: (world) => void unfit.push(world) })
    await site.work({ unfit: (world) => void unfit.push(world) })
    const texts = await Promise.all(answers.map(async (answer) => (await answer).text))
    expect(texts).toEqual([1, 2, 3, 4].flatMap(() => ['shop answers', 'site answers']))
    expect(await shop.store.list()).toHaveLength(8)
    expect(unfit).toEqual([])
  })
})
