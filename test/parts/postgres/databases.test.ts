import { agent, fail, type ModelRequest, scripted, standardSystems, SubagentRegistry, textOf, World } from 'entia'
import { defineFleet, type Fleet, type FleetOptions } from 'entia/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newDatabases } from './new-databases.ts'
import { Proxy } from './proxy.ts'
import { storeIn } from './stores.ts'

/** Asks a helper, and says what it said. */
function clerkSays({ messages }: ModelRequest) {
  const last = messages.at(-1)
  if (last?.role === 'tool') return `Helped: ${textOf(last)}`
  const text = textOf(last)
  if (!text.startsWith('Ask')) return `done ${text}`
  return { toolCalls: [{ name: 'subagent', arguments: { category: 'helper', prompt: text.slice(4) } }] }
}

const clerk = scripted(clerkSays)

function desk(name: string): World {
  const world = new World({ name, systems: standardSystems() })
  world.spawn(...agent({ model: 'desk/clerk' }), SubagentRegistry({ subagents: { helper: { name: 'helper' } } }))
  return world
}

/** A process of the fleet in these databases. */
function processIn(database: string | readonly string[], options: Partial<FleetOptions> = {}): Fleet {
  const fleet = defineFleet({ database, worlds: { desk }, models: { desk: clerk }, ...options })
  onTestFinished(() => fleet.close())
  return fleet
}

const names = Array.from({ length: 12 }, (_, each) => `desk/${each}`)

/** The names of all worlds and sessions that a database has. */
async function worldsIn(database: string): Promise<readonly { readonly name: string; readonly root: string }[]> {
  const worlds = await storeIn('entia', { database }).list()
  return worlds.map(({ name, root = name }) => ({ name, root }))
}

describe('a fleet over several databases', () => {
  it('keeps each root with its sessions in one of them, for every process the same', async () => {
    const databases = await newDatabases(3)
    const [front, worker] = [processIn(databases), processIn(databases)]
    await worker.work()
    const answers = await Promise.all(names.map(async (name) => (await front.agent(name).ask(`Ask ${name}`)).text))
    for (const [at, answer] of answers.entries()) expect(answer).toContain(`done ${names[at]}`)
    const kept = await Promise.all(databases.map(worldsIn))
    const roots = kept.map((worlds) => new Set(worlds.map(({ root }) => root)))
    // Each root is in one of them, none has all, and each session is with its root.
    expect(roots.flatMap((each) => [...each]).toSorted()).toEqual(names.toSorted())
    expect(roots.every(({ size }) => size > 0)).toBe(true)
    expect(kept.flat().filter(({ name, root }) => name !== root)).toHaveLength(names.length)
    for (const [at, name] of names.entries()) {
      const at3 = databases.findIndex((_, database) => roots[database]?.has(name))
      expect(front.storeOf(name), `desk ${at}`).toBe(front.stores[at3])
    }
  })

  it('has one room for sessions in a worker, and one cap that its databases share', async () => {
    const databases = await newDatabases(2)
    let running = 0
    let most = 0
    const full = Promise.withResolvers<void>()
    const models = {
      desk: scripted(async (request) => {
        const { messages } = request
        const text = textOf(messages.at(-1))
        if (!text.startsWith('long')) return clerkSays(request)
        most = Math.max(most, ++running)
        if (running === 3) full.resolve()
        await full.promise
        await new Promise((resolve) => setTimeout(resolve, 20))
        running--
        return 'done'
      }),
    }
    const fleet = processIn(databases, { models, maxSessions: 8 })
    await fleet.work({ sessions: 3 })
    await Promise.all(names.map((name) => fleet.agent(name).ask('Ask long work')))
    expect(most).toBe(3)
  })

  it('goes on with what the others have while one of them is away, and with that one once it is back', async () => {
    const [one = '', two = ''] = await newDatabases(2)
    const proxy = await Proxy.start(two)
    onTestFinished(() => proxy.close())
    const fleet = processIn([one, proxy.url])
    await fleet.work()
    await Promise.all(names.map((name) => fleet.agent(name).ask('Hello.')))
    const [here, away] = [0, 1].map((at) => names.filter((name) => fleet.storeOf(name) === fleet.stores[at]))
    proxy.cut()
    const late = fleet.agent(away?.[0] ?? '').ask('Are you there?')
    const answers = (here ?? []).map(async (name) => (await fleet.agent(name).ask('And now?')).text)
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['done And now?']))
    proxy.mend()
    expect((await late).text).toBe('done Are you there?')
  })

  it('has one pause of a provider for what all of them hold', async () => {
    const retry = { maxAttempts: 2, firstDelayMs: 1, maxDelayMs: 1, kinds: ['rate-limited' as const] }
    const busy = scripted(() => fail('rate-limited', { retryAfterMs: 60_000 }), { retry })
    const fleet = processIn(await newDatabases(2), { models: { desk: busy } })
    const worker = await fleet.work()
    const held = new Promise((resolve) => worker.on('provider-held', resolve))
    fleet
      .agent('desk/1')
      .ask('Hello?')
      .catch(() => undefined)
    await held
    for (const store of fleet.stores)
      await expect.poll(async () => (await store.peers.state()).pauses).toMatchObject([{ provider: 'desk' }])
  })

  it('counts what all of them hold, and says of each who works there', async () => {
    const databases = await newDatabases(2)
    const fleet = processIn(databases)
    const worker = await fleet.work({ note: 'rack 1' })
    await Promise.all(names.map((name) => fleet.agent(name).ask('Hello.')))
    expect(worker.holds.worlds).toBe(names.length)
    expect(await worker.metrics()).toMatchObject({ worldsHeld: names.length, workersAlive: 1, lettersWaiting: 0 })
    expect((await fleet.status()).workers.filter(({ note }) => note === 'rack 1')).toMatchObject([
      { isAlive: true },
      { isAlive: true },
    ])
    expect(await worker.problem()).toBeUndefined()
  })
})

describe('the databases of a fleet', () => {
  const refused = { code: 'config-invalid', message: expect.stringMatching(/as many|in the same order|another fleet/) }

  it('are refused in any other list than that with which it was begun', async () => {
    const [one = '', two = '', three = ''] = await newDatabases(3)
    await processIn([one, two]).status()
    for (const list of [[two, one], [one], two, [one, three], [one, two, three], [three, one, two], [three, two]]) {
      await expect(processIn(list).status(), `${list.length} of them`).rejects.toMatchObject(refused)
    }
    await processIn([one, two]).status()
    // What was refused is not in any list yet, and may begin a fleet of its own.
    await processIn(three).status()
  })

  it('are those of one fleet: two fleets of as many are not mixed', async () => {
    const [one = '', two = '', three = '', four = ''] = await newDatabases(4)
    await processIn([one, two]).status()
    await processIn([three, four]).status()
    await expect(processIn([one, four]).status()).rejects.toMatchObject(refused)
  })

  it('are new where there are several: worlds of one that was used alone would not be found', async () => {
    const [one = '', two = ''] = await newDatabases(2)
    await storeIn('entia', { database: one }).post({ world: 'desk/1', line: '{}' })
    await expect(processIn([one, two]).status()).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('has worlds or letters'),
    })
    await processIn(one).status()
  })

  it('are listed by two processes at once: one list holds, and the other one is refused', async () => {
    const [one = '', two = ''] = await newDatabases(2)
    const tries = await Promise.allSettled([processIn([one, two]).status(), processIn([two, one]).status()])
    expect(tries.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  })

  it('are listed to the end where a process died amid that', async () => {
    const databases = await newDatabases(2)
    await processIn(databases).status()
    const [, second = ''] = databases
    const store = storeIn('entia', { database: second })
    await store.transaction((client) => client.query('UPDATE entia.fleet SET databases = NULL'))
    await processIn(databases).status()
    await expect(processIn(second).status()).rejects.toMatchObject(refused)
  })

  it.each([
    ['none', [], /at least one/],
    ['one twice', ['postgres://a@b/c', 'postgres://a@b/c'], /twice/],
    ['one that is no address', ['postgres://a@b/c', 'here'], /must be such as/],
  ])('are at least one, and each of them once: %s', (_, database, message) => {
    expect(() => processIn(database)).toThrow(message)
  })

  it('have a slot for a session each at least', () => {
    const database = ['postgres://a@b/c', 'postgres://a@b/d']
    expect(() => processIn(database, { maxSessions: 1 })).toThrow(/maxSessions must be at least 2/)
    expect(() => processIn(database, { maxSessionsPerTenant: 1 })).toThrow(/maxSessionsPerTenant must be at least 2/)
  })
})
