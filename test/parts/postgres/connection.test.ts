import { EntiaError } from 'entia'
import type { PostgresStore, PostgresStoreOptions } from 'entia/postgres'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { type Mishap, Proxy } from './proxy.ts'
import { PostgresServer } from './server.ts'
import { newSchema, storeIn } from './stores.ts'

const begin = { snapshot: { tick: 0, lines: ['{}'] } }
const row = (tick: number) => ({ rows: [{ tick, line: `row ${tick}` }] })
/** The name of a statement that commits worlds. */
const commit = 'entia-worlds'

interface Behind {
  readonly proxy: Proxy
  readonly store: PostgresStore
  /** One that reaches the database without the proxy. */
  readonly direct: PostgresStore
}

async function behindProxy(options: Partial<PostgresStoreOptions> = {}): Promise<Behind> {
  const schema = newSchema()
  const direct = storeIn(schema)
  await direct.list()
  const proxy = await Proxy.start(inject('postgres'))
  onTestFinished(() => proxy.close())
  return { proxy, direct, store: storeIn(schema, { database: proxy.url, ...options }) }
}

async function linesOf(store: PostgresStore, world: string): Promise<readonly string[] | undefined> {
  return (await store.read(world))?.rows.map(({ line }) => line)
}

async function lettersOf(store: PostgresStore, world: string): Promise<readonly string[]> {
  const journal = await store.open(world, { seize: true })
  const letters = await journal.letters()
  await journal.close()
  return letters.map(({ line }) => line)
}

const mishaps: readonly Mishap[] = ['answer lost', 'query lost', 'query late']

describe.each(mishaps)('a connection that breaks in a commit, %s,', (what) => {
  it('writes its ticks and the letters that they send once, and the world goes on', async () => {
    const { direct, proxy, store } = await behindProxy()
    const journal = await store.open('a')
    await journal.commit(begin)
    const broken = proxy.next(what, commit)
    await Promise.all([journal.commit({ ...row(1), sent: [{ world: 'b', line: 'from tick 1' }] }), broken])
    await journal.commit({ ...row(2), sent: [{ world: 'b', line: 'from tick 2' }] })
    await proxy.deliver()
    await journal.commit(row(3))
    expect(await linesOf(direct, 'a')).toEqual(['row 1', 'row 2', 'row 3'])
    expect(await lettersOf(direct, 'b')).toEqual(['from tick 1', 'from tick 2'])
  })

  it('sends a letter of no world once, even if it was taken before it is sent again', async () => {
    const { direct, proxy, store } = await behindProxy()
    await store.post({ world: 'a', line: 'zero' })
    const broken = proxy.next(what, 'entia-sender')
    const [one] = await Promise.all([store.post({ world: 'a', line: 'one' }), broken])
    expect(one).toBeUndefined()
    const journal = await direct.open('a')
    await journal.commit(begin)
    const letters = await journal.letters()
    expect(letters.map(({ line }) => line)).toEqual(['zero', 'one'])
    await journal.commit({ ...row(1), taken: letters.map(({ id }) => id) })
    await proxy.deliver()
    expect(await journal.letters()).toEqual([])
  })

  it('keeps the text that was put last', async () => {
    const { direct, proxy, store } = await behindProxy()
    await store.putText('a', 'key', 'first')
    const broken = proxy.next(what, 'entia-sender')
    await Promise.all([store.putText('a', 'key', 'second'), broken])
    await store.putText('a', 'key', 'third')
    await proxy.deliver()
    expect(await direct.getText('a', 'key')).toBe('third')
  })

  it('writes a line of a transcript once', async () => {
    const { direct, proxy, store } = await behindProxy()
    const lines = (...texts: readonly string[]) => texts.map((text) => ({ text, searchable: text }))
    await store.appendTranscript('a', 'a.jsonl', lines('"zero"'), { from: 0 })
    const broken = proxy.next(what, 'transcript_lines')
    await Promise.all([store.appendTranscript('a', 'a.jsonl', lines('"one"'), { from: 1 }), broken])
    await proxy.deliver()
    expect(await direct.transcript('a', 'a.jsonl')).toEqual(['"zero"', '"one"'])
  })

  it('refuses the ticks of a world that was seized meanwhile, and takes those of others', async () => {
    const { direct, proxy, store } = await behindProxy()
    const [lost, kept] = [await store.open('lost'), await store.open('kept')]
    await Promise.all([lost.commit(begin), kept.commit(begin)])
    const broken = proxy.next(what, commit)
    const commits = Promise.allSettled([lost.commit(row(1)), kept.commit(row(1))])
    await broken
    const next = await direct.open('lost', { seize: true })
    const after = (await next.load())?.rows.length ?? 0
    expect((await commits)[1]).toEqual({ status: 'fulfilled', value: undefined })
    await expect(lost.commit(row(2))).rejects.toMatchObject({ code: 'world-fenced' })
    await proxy.deliver()
    expect((await next.load())?.rows).toHaveLength(after)
    expect(await linesOf(direct, 'kept')).toEqual(['row 1'])
  })
})

describe('a database that cannot be reached', () => {
  it('is waited for, and what was given meanwhile is written in its order', async () => {
    const { direct, proxy, store } = await behindProxy()
    const journal = await store.open('a')
    await journal.commit(begin)
    proxy.cut()
    const commits = [1, 2, 3].map((tick) => journal.commit(row(tick)))
    const posted = [1, 2, 3].map((number) => store.post({ world: 'b', line: `letter ${number}` }))
    // Its first tries fail.
    await proxy.refused(2)
    proxy.mend()
    await Promise.all([...commits, ...posted])
    expect(await linesOf(direct, 'a')).toEqual(['row 1', 'row 2', 'row 3'])
    expect(await lettersOf(direct, 'b')).toEqual(['letter 1', 'letter 2', 'letter 3'])
  })

  it('fails what waits after its limit, says what to do, and serves again once it is there', async () => {
    const { direct, proxy, store } = await behindProxy({ retryMs: 100 })
    const journal = await store.open('a')
    await journal.commit(begin)
    proxy.cut()
    const refused = await journal.commit(row(1)).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(EntiaError)
    expect(refused).toMatchObject({ code: 'store-failed' })
    expect(String(refused)).toMatch(/could not be reached for 0.1 s: .+ Mend the connection or the server/)
    await expect(store.read('a')).rejects.toMatchObject({ code: 'store-failed' })
    proxy.mend()
    await journal.commit(row(1))
    expect(await linesOf(direct, 'a')).toEqual(['row 1'])
  })

  it('is asked what is there before a world goes on whose commit nobody knows the end of', async () => {
    const { direct, proxy, store } = await behindProxy({ retryMs: 100 })
    const journal = await store.open('a')
    await journal.commit(begin)
    const broken = proxy.next('answer lost', commit).then(() => proxy.cut())
    await expect(journal.commit(row(1))).rejects.toMatchObject({ code: 'store-failed' })
    await broken
    proxy.mend()
    await expect(journal.commit(row(1))).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining('expected tick 2 after tick 1'),
    })
    await journal.commit(row(2))
    expect(await linesOf(direct, 'a')).toEqual(['row 1', 'row 2'])
  })

  it('holds up only what it has to answer: commits resolve in the order in which they were given', async () => {
    const { direct, proxy, store } = await behindProxy()
    const journal = await store.open('a')
    await journal.commit(begin)
    proxy.holdUp()
    const order: number[] = []
    const commits = [1, 2, 3, 4, 5].map(async (tick) => {
      await journal.commit(row(tick))
      order.push(tick)
    })
    await proxy.kept(1)
    expect(order).toEqual([])
    proxy.letThrough()
    await Promise.all(commits)
    expect(order).toEqual([1, 2, 3, 4, 5])
    expect(await linesOf(direct, 'a')).toHaveLength(5)
  })

  it('tells of letters that came while it was away', async () => {
    const { direct, proxy, store } = await behindProxy({ pollMs: 3_600_000, leaseMs: 500 })
    await store.enter()
    const heard: string[] = []
    const hears = (world: string) =>
      new Promise<void>((resolve) => {
        const end = store.on('letter', (_root, name) => {
          heard.push(name)
          if (name !== world) return
          end()
          resolve()
        })
      })
    const first = hears('before')
    await direct.post({ world: 'before', line: 'x' })
    await first
    const second = hears('meanwhile')
    proxy.cut()
    await direct.post({ world: 'meanwhile', line: 'x' })
    expect(heard).not.toContain('meanwhile')
    proxy.mend()
    await second
    expect(heard).toContain('meanwhile')
  })
})

describe('a network that says nothing any more', () => {
  it('is left for another connection after a while, by what reads too', async () => {
    const { direct, proxy, store } = await behindProxy({ retryMs: 1_500 })
    const journal = await direct.open('a')
    await journal.commit(begin)
    expect((await store.read('a'))?.snapshot.tick).toBe(0)
    proxy.holdUp()
    const reading = store.read('a')
    await proxy.kept(1)
    proxy.forget()
    expect((await reading)?.snapshot.tick).toBe(0)
  })
})

describe('a Postgres that is killed and begins again', () => {
  it('is waited for by the worlds that are open, which lose nothing and are still theirs', async () => {
    const server = await PostgresServer.start()
    onTestFinished(() => server.stop())
    const schema = newSchema()
    const [one, other] = [storeIn(schema, { database: server.url() }), storeIn(schema, { database: server.url() })]
    const journals = await Promise.all(['a', 'b'].map((world) => one.open(world)))
    await Promise.all(journals.map((journal) => journal.commit(begin)))
    for (let restart = 0; restart < 3; restart++) {
      const ticks = [1, 2, 3].map((tick) => 3 * restart + tick)
      const commits = journals.flatMap((journal) => ticks.map((tick) => journal.commit(row(tick))))
      const letter = one.post({ world: 'c', line: `letter ${restart}` })
      await server.kill()
      await server.begin()
      await Promise.all([...commits, letter])
    }
    for (const world of ['a', 'b']) expect(await linesOf(other, world)).toHaveLength(9)
    expect(await lettersOf(other, 'c')).toEqual(['letter 0', 'letter 1', 'letter 2'])
    await journals[0]?.commit(row(10))
  })
})
