import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EntiaError, sqliteStore, VirtualClock } from 'entia'
import type { SharedStore } from 'entia/stores'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { UsageError } from '../../src/cli/parsed-words.ts'
import { worldsCommand } from '../../src/cli/worlds/worlds-command.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { drivenWorld } from './driven-world.ts'
import { Output } from './output.ts'

/** Long ago, so that what is held now has been so for 0 s. */
const nowMs = 1_000_000_000_000
let folder: string

beforeEach(async () => {
  folder = await tempFolder()
})

function store(): SharedStore {
  const made = sqliteStore({ folder, synchronous: 'normal' })
  onTestFinished(() => made.close())
  return made
}

/** What the command prints; on a terminal, if it has columns. */
async function said(words: readonly string[], { columns, now = nowMs }: { columns?: number; now?: number } = {}) {
  const stdout = new Output(columns)
  const place = { environment: {}, cwd: folder, stdout, stderr: new Output(), now: () => now }
  const code = await worldsCommand([...words, '--store', '.'], place)
  return { code, text: stdout.text, lines: stdout.text.split('\n').slice(0, -1) }
}

function refused(...words: readonly string[]): Promise<EntiaError> {
  return said(words).then(
    () => Promise.reject(new Error('It was not refused.')),
    (error: EntiaError) => error,
  )
}

async function written(made: SharedStore, name: string, { isBusy = false, root }: { isBusy?: boolean; root?: string }) {
  const journal = await made.open(name, { root, holder: 'the desk' })
  await journal.commit({ snapshot: { tick: 0, lines: ['{}'] }, rows: [{ tick: 1, line: '{}' }], isBusy })
  return journal
}

/** Three root worlds: one that is held with a session, one that stopped in the midst of work, one that rests. */
async function threeWorlds(): Promise<void> {
  const made = store()
  await written(made, 'user-2', { isBusy: true })
  await (await written(made, 'session-a', { root: 'user-2' })).close()
  await (await written(made, 'user-10', { isBusy: true })).close()
  await (await written(made, 'user-1', {})).close({ wakeAtMs: nowMs + 90_000 })
  await made.post({ world: 'user-1', line: 'a letter' })
}

describe('entia worlds list', () => {
  it('says what each world does, who has it open, and what waits for it; numbers in names go by value', async () => {
    await threeWorlds()
    const { lines } = await said(['list'])
    expect(lines).toEqual([
      'WORLD    STATE    TICK  SIZE  SESSIONS  LETTERS  DUE            HELD BY',
      'user-1   idle     1     4 B             1        in 1 min 30 s',
      expect.stringMatching(/^user-2 {3}busy {5}1 {5}8 B {3}1 {33}the desk \(process \d+ on .+\) for 0 s$/),
      'user-10  stalled  1     4 B',
    ])
  })

  it('shows the first ones, and says that there are more', async () => {
    await threeWorlds()
    const { lines } = await said(['list', '--limit', '2'])
    expect(lines.map((line) => line.slice(0, 24).trimEnd())).toEqual([
      'WORLD    STATE    TICK',
      expect.stringContaining('user-1 '),
      expect.stringContaining('user-10'),
      expect.stringContaining('… and more; --limit 4 sh'),
    ])
    const { lines: few } = await said(['list', 'user-1', '--limit', '2'])
    expect(few).toHaveLength(3)
  })

  it('shows the worlds of sessions below their root world', async () => {
    await threeWorlds()
    const { lines } = await said(['list', 'user-2', '--all'])
    expect(lines.map((line) => line.slice(0, 20).trimEnd())).toEqual([
      'WORLD        STATE',
      'user-2       busy',
      '  session-a  idle',
    ])
  })

  it('gives each as an object', async () => {
    await threeWorlds()
    const { lines } = await said(['list', '--all', '--json'])
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { name: 'user-1', tick: 1, isBusy: false, letters: 1, wakeAtMs: expect.any(Number) },
      { name: 'user-2', isBusy: true, heldBy: { holder: 'the desk', pid: process.pid } },
      { name: 'session-a', root: 'user-2' },
      { name: 'user-10', isBusy: true },
    ])
  })

  it('says why a world cannot be read, and lists the others', async () => {
    await threeWorlds()
    writeFileSync(join(folder, 'torn.sqlite'), 'no database at all, but long enough to be taken for one'.repeat(20))
    const { code, lines } = await said(['list'])
    expect(code).toBe(0)
    expect(lines.slice(1, 3)).toEqual([
      expect.stringMatching(/^torn .*unreadable/),
      expect.stringContaining('torn.sqlite cannot be read: file is not a database. Put a backup in its place'),
    ])
    expect(lines).toHaveLength(6)
    expect(JSON.parse((await said(['list', 'torn', '--json'])).text)).toMatchObject({
      unreadable: { code: 'corrupt-journal' },
    })
  })

  it('has colours on a terminal alone, and no line longer than that', async () => {
    await threeWorlds()
    expect((await said(['list'])).text).not.toContain('\u001B')
    const { text } = await said(['list'], { columns: 40 })
    expect(text).toContain('\u001B[33muser-10')
    expect(text).toContain('…')
  })

  it('of a store without worlds, or without such worlds, says so', async () => {
    expect((await said(['list'])).text).toBe('There is no world in . yet.\n')
    await threeWorlds()
    expect((await said(['list', 'x'])).text).toBe("No world in . has a name that begins with 'x'; it holds 4 worlds.\n")
  })
})

describe('entia worlds show', () => {
  it('shows a world that a program drives, which goes on: agents, work in flight, messages, sessions, ticks', async () => {
    const clock = new VirtualClock()
    const runner = await drivenWorld(folder, 'desk/4711', clock)
    onTestFinished(() => runner.stop())
    const { lines } = await said(['show', 'desk/4711'], { now: runner.world.dateMs + 75_000 })
    const text = lines.join('\n')
    expect(lines[0]).toBe('desk/4711  busy')
    expect(lines[1]).toMatch(/^ {2}Driven by a Runner \(process \d+ on .+\)/)
    expect(text).toContain('(1 min 15 s ago) · a snapshot of tick 0 and ')
    expect(text).toContain('Agent 1 · script/desk · turn under way for 1 min 15 s: step 1 of 50, 2 tool calls')
    expect(text).toContain('spent $0.0000 of $5.00, $0.0000 in this turn, and 1 call without a price')
    expect(text).toContain('  tool dig {"where":"cellar"}  running for 1 min 15 s\n')
    expect(text).toContain('  > Where is\n  > my parcel?\n  I look for it.\n')
    expect(text).toMatch(
      /Sessions\n {2}session-\w+ {2}running {2}1 min 15 s {2}clerk {2}script\/desk {2}Ask the depot\./,
    )
    expect(text).toMatch(/Newest ticks\n(?:.*\n)+ {2}\d+ .* → delegation-started/)
    expect(text).toMatch(/does not know, as they are stored\n {2}Customer {2}entity 1: {"number":"4711"}$/)
    const before = runner.world.tick
    expect(await runner.message(1, 'Hello?')).toBeGreaterThan(before)
  })

  it('gives everything as one object', async () => {
    const runner = await drivenWorld(folder, 'desk', new VirtualClock())
    onTestFinished(() => runner.stop())
    const { lines } = await said(['show', 'desk', '--json', '--messages', '1', '--from', '3'])
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      name: 'desk',
      tick: runner.world.tick,
      heldBy: { pid: process.pid },
      agents: [{ entity: 1, messages: 3, lastMessages: [{ role: 'tool' }], maxSpentUsd: 5, unpricedCalls: 1 }],
      sessions: [{ status: 'running', category: 'clerk', prompt: 'Ask the depot.' }],
      effects: [{ kind: 'tool', agent: 1, state: 'running' }, { kind: 'session' }],
      own: { Customer: { 1: { number: '4711' } } },
      ticks: [{ tick: 3, inputs: ['outcome'] }, { tick: 4 }, { tick: 5, events: ['delegation-started'] }],
    })
  })

  it('shows a world as it was after a tick, and one that nobody drives with its time standing still', async () => {
    const runner = await drivenWorld(folder, 'desk', new VirtualClock())
    await runner.stop()
    const early = (await said(['show', 'desk', '--to', '1'])).text
    expect(early).toContain('has had no turn')
    const { lines } = await said(['show', 'desk'], { now: runner.world.dateMs + 3_600_000 })
    expect(lines[0]).toBe('desk  stalled: it has work in flight, and goes on once a program opens it')
    expect(lines[1]).toBe('  No one drives it')
    expect(lines.join('\n')).toContain('turn under way for 0 s')
    expect(await refused('show', 'desk', '--from', '3', '--to', '2')).toBeInstanceOf(UsageError)
  })

  it('finds the world of a session, and shows its agent', async () => {
    const runner = await drivenWorld(folder, 'desk', new VirtualClock())
    onTestFinished(() => runner.stop())
    const session = ((await store().list()).find(({ root }) => root === 'desk') ?? { name: '' }).name
    const { lines } = await said(['show', session])
    expect(lines[0]).toBe(`${session}  busy  of desk`)
    expect(lines.join('\n')).toContain('> Ask the depot.')
  })

  it('names worlds that are called alike, if there is no such world', async () => {
    await threeWorlds()
    const error = await refused('show', 'user-3')
    expect(error.code).toBe('no-such-world')
    expect(error.message).toMatch(/^There is no world 'user-3' in \.\. Did you mean 'user-1' or 'user-2'/)
  })

  it('of a world that cannot be read says who has it, and then why', async () => {
    await threeWorlds()
    const error = await refused('show', 'user-2')
    expect(error).toMatchObject({ code: 'corrupt-snapshot' })
    const older = store()
    await older.post({ world: 'never-made', line: 'a letter' })
    expect((await said(['show', 'never-made'])).lines).toEqual([
      'never-made  new',
      '  No one drives it · 1 letter waiting',
      '',
      'Nothing has been written of it yet.',
    ])
  })
})

describe('the command line of entia worlds', () => {
  it('refuses what it does not know, and says what is meant', async () => {
    const texts = [
      [['lst'], "There is no command 'entia worlds lst'. Did you mean 'list'?"],
      [['show'], 'entia worlds show needs the name of a world. entia worlds list shows them.'],
      [['show', 'a', 'b'], 'entia worlds show takes one world, got a b.'],
      [['list', '--from', '3'], '--from is for entia worlds show.'],
      [['show', 'a', '--to', 'x'], '--to must be an integer ≥ 0, got x.'],
    ] as const
    for (const [words, message] of texts) expect(await refused(...words)).toMatchObject({ name: 'UsageError', message })
  })

  it('needs a folder that is there', async () => {
    const place = { environment: {}, cwd: folder, stdout: new Output(), stderr: new Output() }
    writeFileSync(join(folder, 'a.sqlite'), '')
    await expect(worldsCommand(['list'], place)).rejects.toThrow('There is no folder .entia here. Name the folder')
    await expect(worldsCommand(['--store', 'a.sqlite'], place)).rejects.toThrow('a.sqlite is a file, not a folder.')
  })
})
