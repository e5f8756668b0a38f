import { defineFleet, type Fleet } from 'entia/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { queueCommand } from '../../../src/cli/fleet/queue-command.ts'
import { workersCommand } from '../../../src/cli/fleet/workers-command.ts'
import { UsageError } from '../../../src/cli/parsed-words.ts'
import { worldsCommand } from '../../../src/cli/worlds/worlds-command.ts'
import { Output } from '../../cli/output.ts'
import { desk, models } from './desk.ts'
import { newDatabases } from './new-databases.ts'
import { storeIn } from './stores.ts'

/** Nothing listens there. */
const away = 'postgres://127.0.0.1:1/away'

interface Place {
  readonly environment: NodeJS.ProcessEnv
  readonly cwd: string
  readonly stdout: Output
  readonly stderr: Output
}

type Command = (words: readonly string[], place: Place) => Promise<number>

/** What a command says where these databases are named. */
async function said(command: Command, words: readonly string[], databases: string | readonly string[]) {
  const [stdout, stderr] = [new Output(), new Output()]
  const place = { cwd: '.', stdout, stderr, environment: {} }
  const named =
    typeof databases === 'string' ? ['--database', databases] : databases.flatMap((one) => ['--database', one])
  const code = await command([...words, ...named], place)
  return { code, text: stdout.text, warned: stderr.text, lines: stdout.text.split('\n').slice(0, -1) }
}

function shown(database: string): string {
  const { host, pathname } = new URL(database)
  return `${host}${pathname}`
}

function fleetIn(database: string | readonly string[]): Fleet {
  const fleet = defineFleet({ database, worlds: { desk }, models, idleMs: 0 })
  onTestFinished(() => fleet.close())
  return fleet
}

/** Two databases of a fleet, and a root world that lies in each. */
async function twoDatabases() {
  const databases = await newDatabases(2)
  const fleet = fleetIn(databases)
  const names = Array.from({ length: 8 }, (_, at) => `desk/${at}`)
  const worker = await fleet.work({ note: 'of both' })
  await Promise.all(names.map((name) => fleet.agent(name).ask('hello')))
  const [one = '', two = ''] = databases.map((_, at) => names.find((name) => fleet.storeOf(name) === fleet.stores[at]))
  return { databases, fleet, names, one, two, worker }
}

describe('a fleet over several databases', () => {
  it('is named by a text with commas as by a list, as in DATABASE_URL', async () => {
    const databases = await newDatabases(2)
    const text = databases.join(' , ')
    const fleet = fleetIn(text)
    expect(fleet.stores).toHaveLength(2)
    await fleet.work()
    expect((await fleet.agent('desk/1').ask('hello')).text).toBe('Heard: hello')
    expect((await fleetIn(databases).agent('desk/1').ask('again')).text).toBe('Heard: again')
    const [stdout, stderr] = [new Output(), new Output()]
    expect(await workersCommand([], { environment: { DATABASE_URL: text }, stdout, stderr })).toBe(0)
    for (const database of databases) expect(stdout.text).toContain(` ${shown(database)} `)
  })

  it('has all its worlds listed, each with its database, by name over all', async () => {
    const { databases, fleet, names, worker } = await twoDatabases()
    await worker.stop()
    const { code, lines, warned } = await said(worldsCommand, ['list'], databases)
    expect([code, warned]).toEqual([0, ''])
    expect(lines[0]).toMatch(/^WORLD +STATE .* DATABASE$/)
    const rows = names.map((name) => [name, shown(databases[fleet.stores.indexOf(fleet.storeOf(name))] ?? '')])
    expect(lines.slice(1).map((line) => [line.split(/ +/)[0], line.split(/ +/).at(-1)])).toEqual(rows)
    const json = await said(worldsCommand, ['list', '--json', '--limit', '3'], databases.join(','))
    expect(json.lines.map((line) => JSON.parse(line) as object)).toMatchObject(
      rows.slice(0, 3).map(([name, database]) => ({ name, database })),
    )
    expect((await said(worldsCommand, ['list', 'desk/3'], databases)).lines).toHaveLength(2)
    expect((await said(worldsCommand, ['list', '--limit', '3'], databases)).lines.at(-1)).toMatch(/^… and more/)
    // One alone is as before.
    expect((await said(worldsCommand, ['list'], databases.slice(0, 1))).lines[0]).not.toContain('DATABASE')
  })

  it('has a world shown, held and released, whichever database has it', async () => {
    const { databases, fleet, one, two, worker } = await twoDatabases()
    await worker.stop()
    for (const [at, name] of [one, two].entries()) {
      const where = shown(databases[at] ?? '')
      expect(await said(worldsCommand, ['show', name], databases)).toMatchObject({
        code: 0,
        text: expect.stringContaining('Heard: hello'),
      })
      expect((await said(worldsCommand, ['kill', name], databases)).text).toMatch(
        `${name} in ${where} is driven no more`,
      )
      expect((await fleet.storeOf(name).list({ root: name }))[0]?.quarantine).toBeDefined()
      const released = await said(worldsCommand, ['release', name, '--json'], databases)
      expect(JSON.parse(released.text)).toEqual({ database: where, name, wasHeld: 'It was killed by hand.' })
      expect((await fleet.storeOf(name).list({ root: name }))[0]?.quarantine).toBeUndefined()
    }
    for (const verb of ['show', 'kill', 'release'])
      await expect(said(worldsCommand, [verb, 'desk/99'], databases), verb).rejects.toMatchObject({
        code: 'no-such-world',
        message: expect.stringContaining(databases.map(shown).join(' or ')),
      })
  })

  it('has who works and who waits shown for all of them', async () => {
    const { databases } = await twoDatabases()
    const [first = '', second = ''] = databases
    await storeIn('entia', { database: second }).line.launch({
      world: 'session-1',
      root: 'desk/1',
      tick: 0,
      lines: ['{}'],
      tenant: 'desk',
      job: '{}',
    })
    const workers = await said(workersCommand, ['--json'], databases)
    const both = workers.lines
      .map((line) => JSON.parse(line) as { readonly database: string; readonly note: string })
      .filter(({ note }) => note === 'of both')
    expect(both.map(({ database }) => database)).toEqual([shown(first), shown(second)])
    const queue = await said(queueCommand, [], databases)
    expect(queue.text).toMatch(new RegExp(`^session-1 .* ${shown(second)}$`, 'm'))
    const json = await said(queueCommand, ['--json'], databases)
    expect(JSON.parse(json.lines[0] ?? '')).toMatchObject({ database: shown(second), world: 'session-1' })
    expect(JSON.parse(json.lines[1] ?? '')).toMatchObject({ lettersWaiting: 0, worldsQuarantined: 0 })
  })
})

describe('of several databases, one that cannot be reached', () => {
  it.each([
    ['entia workers', workersCommand, [], 'of both'],
    ['entia queue', queueCommand, [], 'alive'],
    ['entia worlds list', worldsCommand, ['list'], 'desk/'],
  ] as const)(
    'is left out by %s, which shows the others, says so, and ends with 1',
    async (_, command, words, shows) => {
      const { databases } = await twoDatabases()
      const [first = ''] = databases
      const { code, lines, text, warned } = await said(command, [...words], [first, away])
      expect(code).toBe(1)
      expect(warned).toMatch(/^entia: 127\.0\.0\.1:1\/away is left out: The store cannot use .*ECONNREFUSED.*\n$/)
      expect(lines.length).toBeGreaterThan(1)
      expect(text).toContain(shows)
    },
  )

  it('does not hide a world of another one', async () => {
    const { databases, one } = await twoDatabases()
    const [first = ''] = databases
    expect(await said(worldsCommand, ['show', one], [away, first])).toMatchObject({
      code: 0,
      text: expect.stringContaining('Heard: hello'),
      warned: expect.stringContaining('away is left out'),
    })
    const missing = said(worldsCommand, ['show', 'desk/99'], [away, first])
    await expect(missing).rejects.toMatchObject({ code: 'no-such-world' })
  })

  it('is refused as one alone is where all are away', async () => {
    for (const [command, words] of [
      [workersCommand, []],
      [worldsCommand, ['list']],
    ] as const)
      await expect(said(command, words, [away, `${away}too`])).rejects.toMatchObject({ code: 'store-failed' })
  })
})

describe('a list of databases', () => {
  it.each([
    [[away, away], UsageError, /127\.0\.0\.1:1\/away is named twice/],
    [[away, 'here'], Error, /must be such as/],
    [[''], UsageError, /needs the database/],
  ])('is refused that is %j', async (databases, type, message) => {
    const refused = said(workersCommand, [], databases)
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toBeInstanceOf(type)
  })

  it('and a folder are no stores of one command', async () => {
    await expect(said(worldsCommand, ['list', '--store', 'here'], [away])).rejects.toThrow(/each must be a database/)
  })

  it('with a name that two of them have asks for one of them', async () => {
    const databases = await newDatabases(2)
    for (const database of databases) {
      const journal = await storeIn('entia', { database }).open('desk/1')
      await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
      await journal.close()
    }
    await expect(said(worldsCommand, ['kill', 'desk/1'], databases)).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining(`Name one of their databases alone: ${databases.map(shown).join(', ')}`),
    })
    const listed = await said(worldsCommand, ['list'], databases)
    expect(listed.lines).toHaveLength(3)
  })
})
