import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { defineFleet, type Fleet } from 'entia/postgres'
import { agent, scripted, standardSystems, SubagentRegistry, World } from 'entia'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { queueCommand } from '../../../src/cli/fleet/queue-command.ts'
import { workersCommand } from '../../../src/cli/fleet/workers-command.ts'
import { UsageError } from '../../../src/cli/parsed-words.ts'
import { worldsCommand } from '../../../src/cli/worlds/worlds-command.ts'
import { Output } from '../../cli/output.ts'
import { desk, models } from './desk.ts'
import { newSchema, storeIn } from './stores.ts'

const root = join(import.meta.dirname, '../../..')
const main = join(root, 'src/cli/main.ts')
const file = join(root, 'test/programs/desk-fleet.ts')

/** `entia worker` in a process of its own, and the lines that it prints. */
class Worker {
  readonly lines: string[] = []
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>
  readonly #child: ChildProcess
  #news = Promise.withResolvers<void>()

  constructor(schema: string, words: readonly string[] = []) {
    const environment = { ...process.env, DATABASE_URL: inject('postgres'), DESK_SCHEMA: schema }
    const args = ['--conditions=entia-source', main, 'worker', file, ...words]
    const child = spawn(process.execPath, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    for (const input of [child.stdout, child.stderr])
      createInterface({ input }).on('line', (line) => {
        this.lines.push(line)
        this.#news.resolve()
        this.#news = Promise.withResolvers()
      })
    this.ended = once(child, 'close').then(
      ([code, signal]) => [code as number | null, signal as string | null] as const,
    )
    onTestFinished(() => void child.kill('SIGKILL'))
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** The first line that fits, or how it ended. */
  async line(fits: RegExp): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => fits.test(line))
      if (found !== undefined) return found
      const ended = await Promise.race([this.#news.promise, this.ended])
      if (ended !== undefined) throw new Error(`It ended: ${this.lines.join('\n')}`)
    }
  }
}

/** The fleet of the file, as another program has it. */
function front(schema: string): Fleet {
  const fleet = defineFleet({ database: inject('postgres'), schema, worlds: { desk }, models })
  onTestFinished(() => fleet.close())
  return fleet
}

async function said(
  command: (
    words: readonly string[],
    place: { environment: NodeJS.ProcessEnv; cwd: string; stdout: Output; stderr: Output },
  ) => Promise<number>,
  words: readonly string[],
): Promise<string> {
  const [stdout, stderr] = [new Output(), new Output()]
  const environment = { DATABASE_URL: inject('postgres') }
  expect(await command(words, { environment, cwd: root, stdout, stderr })).toBe(0)
  expect(stderr.text).toBe('')
  return stdout.text
}

describe('entia worker', () => {
  it('drives worlds of the fleet in its file, until SIGTERM: it hands them on and ends with 0', async () => {
    const schema = newSchema()
    const worker = new Worker(schema, ['--note', 'the first'])
    expect(await worker.line(/works for/)).toMatch(/^entia: worker \d+ works for the fleet in 127\.0\.0\.1:\d+\/\w+\.$/)
    const { text } = await front(schema).agent('desk/1').ask('hello')
    expect(text).toBe('Heard: hello')
    const other = new Worker(schema)
    await other.line(/works for/)
    worker.signal('SIGTERM')
    expect(await worker.ended).toEqual([0, null])
    expect(worker.lines.at(-1)).toMatch(/^entia: stops, and hands on \d+ worlds? and 0 sessions\.$/)
    expect((await front(schema).agent('desk/1').ask('still there?')).text).toBe('Heard: still there?')
    other.signal('SIGINT')
    expect(await other.ended).toEqual([0, null])
  })

  it('says how it does: health, and numbers for Prometheus', async () => {
    const schema = newSchema()
    const worker = new Worker(schema, ['--health', '0'])
    const [, address = ''] = /(http:\S+)\/health/.exec(await worker.line(/\/health/)) ?? []
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:/)
    await front(schema).agent('desk/1').ask('hello')
    const health = await fetch(`${address}/health`)
    expect(health.status).toBe(200)
    expect(await health.json()).toMatchObject({ isAlive: true, sessions: 0 })
    const metrics = await (await fetch(`${address}/metrics`)).text()
    const values = Object.fromEntries(
      metrics
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.split(' ')),
    ) as Readonly<Record<string, string>>
    expect(values).toMatchObject({
      entia_workers_alive: '1',
      entia_letters_waiting: '0',
      entia_oldest_letter_seconds: '0',
      entia_sessions_waiting: '0',
      entia_fenced_total: '0',
      entia_recovered_total: '0',
      entia_worlds_quarantined: '0',
    })
    expect(Number(values['entia_commits_total'])).toBeGreaterThan(0)
    expect((await fetch(`${address}/other`)).status).toBe(404)
    worker.signal('SIGTERM')
    expect(await worker.ended).toEqual([0, null])
  })
})

describe('a worker whose tables are gone', () => {
  it('ends with 1, and says what it could not do', async () => {
    const schema = newSchema()
    const worker = new Worker(schema)
    await worker.line(/works for/)
    await storeIn(schema).transaction((client) => client.query(`DROP TABLE ${schema}.line`))
    expect(await worker.ended).toEqual([1, null])
    expect(worker.lines.at(-1)).toMatch(/The tables are not those of its version/)
  })

  it('has stopped for its program, too, which is told', async () => {
    const schema = newSchema()
    const fleet = front(schema)
    const over = Promise.withResolvers<readonly [Error, boolean]>()
    const worker = await fleet.work({ failed: (...told) => over.resolve(told) })
    await fleet.store.transaction((client) => client.query(`DROP TABLE ${schema}.pauses`))
    expect(await over.promise).toMatchObject([{ code: 'store-failed', details: { state: '42P01' } }, true])
    await worker.stop()
    expect(await worker.problem()).toMatch(/The tables are not those of its version/)
  })
})

describe('entia workers', () => {
  it('lists who works, and what each holds', async () => {
    const schema = newSchema()
    expect(await said(workersCommand, ['--schema', schema])).toMatch(/^No one works for the fleet in /)
    const worker = new Worker(schema, ['--note', 'the first'])
    await worker.line(/works for/)
    const [head, line] = (await said(workersCommand, ['--schema', schema])).split('\n')
    expect(head).toMatch(/^WORKER +STATE +WORLDS +SESSIONS +SEEN +PROCESS +NOTE$/)
    expect(line).toMatch(/^\d+ +alive +0 +0 +\d+ s ago +\d+ on \S+ +the first$/)
    const one = JSON.parse(await said(workersCommand, ['--schema', schema, '--json'])) as object
    expect(one).toMatchObject({ isAlive: true, note: 'the first', worlds: 0, sessions: 0 })
    worker.signal('SIGKILL')
    await worker.ended
    await expect.poll(() => said(workersCommand, ['--schema', schema])).toMatch(/^\d+ +dead /m)
  })
})

describe('entia queue', () => {
  it('shows sessions with a slot, those in line, tenants, and letters', async () => {
    const schema = newSchema()
    const release = Promise.withResolvers<void>()
    onTestFinished(() => release.resolve())
    const fleet = defineFleet({
      database: inject('postgres'),
      schema,
      maxSessions: 1,
      worlds: {
        desk: (name) => {
          const world = new World({ name, systems: standardSystems() })
          const helper = { name: 'helper', inheritancePolicy: {} }
          world.spawn(...agent({ model: 'desk/clerk' }), SubagentRegistry({ subagents: { helper } }))
          return world
        },
      },
      models: {
        desk: scripted(async ({ messages }) => {
          const last = messages.at(-1)
          if (last?.role === 'tool') return 'done'
          const isHelper = JSON.stringify(messages).includes('Help.')
          if (isHelper) await release.promise
          return isHelper
            ? 'helped'
            : { toolCalls: [{ name: 'subagent', arguments: { category: 'helper', prompt: 'Help.' } }] }
        }),
      },
    })
    onTestFinished(() => fleet.close())
    const worker = await fleet.work()
    const turns = ['desk/red/1', 'desk/blue/1'].map((name) => fleet.agent(name).ask('Go.'))
    const isFull = async (): Promise<boolean> => {
      const { sessions } = await fleet.status()
      return sessions.length === 2 && sessions.some(({ hasSlot }) => hasSlot)
    }
    while (!(await isFull())) await new Promise((resolve) => setImmediate(resolve))
    const text = await said(queueCommand, ['--schema', schema])
    expect(text).toMatch(/^1 session with a slot, 1 in line · 1 worker alive\n\d+ letters? waiting for worlds/)
    expect(text).toMatch(/^desk\/red +\d +\d/m)
    expect(text).toMatch(/ running +\d+ /)
    expect(text).toMatch(/ in line +/)
    const one = await said(queueCommand, ['--schema', schema, '--tenant', 'desk/red', '--json'])
    const lines = one
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines).toMatchObject([
      { root: 'desk/red/1', tenant: 'desk/red' },
      { sessionsRunning: 1, sessionsWaiting: 1 },
    ])
    expect(await worker.metrics()).toMatchObject({ sessionsRunning: 1, sessionsWaiting: 1, worldsHeld: 2 })
    release.resolve()
    expect((await Promise.all(turns)).map((turn) => turn.text)).toEqual(['done', 'done'])
  })
})

describe('a session that rests', () => {
  it('is shown as what it is: not in line, neither where a worker has it nor where none has', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    for (const world of ['parked', 'open', 'woken', 'queued', 'other']) {
      const tenant = world === 'other' ? 'blue' : 'red'
      await store.line.launch({ world, root: `desk/${world}`, tick: 0, lines: ['{}'], tenant, job: '{}' })
      if (world === 'queued' || world === 'other') continue
      const [claim] = await store.line.next({ cap: 10, room: 1 })
      if (claim === undefined) throw new Error('It was not given.')
      await store.line.giveBack(claim)
      if (world === 'parked') await store.line.rest(claim)
      if (world === 'woken') await store.line.putBack(claim)
    }
    const text = await said(queueCommand, ['--schema', schema])
    expect(text).toMatch(/^0 sessions with a slot, 2 in line, 3 resting · /)
    expect(text).toMatch(/^TENANT +RUNNING +IN LINE +RESTING +LONGEST WAIT$/m)
    expect(text).toMatch(/^red +0 +1 +3 +\d/m)
    expect(text).toMatch(/^blue +0 +1 +0 +\d/m)
    const states = text
      .split('\n')
      .flatMap((line) => /^(\w+) +desk\S+ +\w+ +(in line|\w+) /.exec(line)?.slice(1).join(': ') ?? [])
    expect(states).toEqual(['open: resting', 'woken: waking', 'queued: in line', 'other: in line', 'parked: resting'])
  })
})

describe('entia worlds over a database', () => {
  it('kills a world: its worker lets go, its letters wait, and it goes on when it is released', async () => {
    const schema = newSchema()
    const fleet = front(schema)
    const first = await fleet.work()
    await fleet.agent('desk/1').ask('hello')
    await first.stop()
    const words = ['--database', inject('postgres'), '--schema', schema]
    expect(await said(worldsCommand, ['list', ...words])).toMatch(/^desk\/1 +idle /m)
    expect(await said(worldsCommand, ['kill', 'desk/1', '--reason', 'It spends too much.', ...words])).toMatch(
      /^desk\/1 is driven no more\. .*\nTo let it go on: entia worlds release desk\/1\n$/,
    )
    expect(await said(worldsCommand, ['list', ...words])).toMatch(/^desk\/1 +quarantine .*\n +It spends too much\.$/m)
    expect(await said(worldsCommand, ['show', 'desk/1', ...words])).toMatch('It spends too much.')
    const worker = new Worker(schema)
    await worker.line(/works for/)
    const answer = fleet.agent('desk/1').ask('anybody?')
    expect((await fleet.agent('desk/2').ask('hello')).text).toBe('Heard: hello')
    expect((await storeIn(schema).list()).find(({ name }) => name === 'desk/1')).toMatchObject({ letters: 1 })
    expect(await said(worldsCommand, ['release', 'desk/1', ...words])).toBe(
      'Workers may drive desk/1 again. It was in quarantine: It spends too much.\n',
    )
    expect((await answer).text).toBe('Heard: anybody?')
    worker.signal('SIGTERM')
    expect(await worker.ended).toEqual([0, null])
  })

  it('says of a world that was parked at work what it waits for', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const words = ['list', '--database', inject('postgres'), '--schema', schema]
    const parked = async (wakeAtMs?: number): Promise<string> => {
      const journal = await store.open('desk/1')
      await journal.commit({ snapshot: { tick: (journal.openedAtTick ?? -1) + 1, lines: ['{}'] }, isBusy: true })
      await journal.close(wakeAtMs === undefined ? {} : { wakeAtMs })
      return said(worldsCommand, words)
    }
    expect(await parked()).toMatch(/^desk\/1 +waiting /m)
    expect(await parked(Date.now() + 3_600_000)).toMatch(/^desk\/1 +waiting .* in \d+ /m)
    expect(await parked(0)).toMatch(/^desk\/1 +stalled .* at once/m)
  })

  it('takes a world from a worker that holds it, whose commits are refused from then on', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const journal = await store.open('desk/1', { holder: 'the first' })
    await journal.commit({ snapshot: { tick: 0, lines: ['{}'] }, isBusy: true })
    const words = ['--database', inject('postgres'), '--schema', schema]
    expect(await said(worldsCommand, ['kill', 'desk/1', ...words])).toMatch(/taken from the first \(process \d+ on /)
    await expect(journal.commit({ rows: [{ tick: 1, line: '{}' }] })).rejects.toMatchObject({ code: 'world-fenced' })
    expect(await store.due(10)).toEqual([])
    await said(worldsCommand, ['release', 'desk/1', ...words])
    expect(await store.due(10)).toMatchObject([{ name: 'desk/1' }])
  })

  it('refuses to kill what is not there, or a session, and says what to do', async () => {
    const schema = newSchema()
    const store = storeIn(schema)
    const journal = await store.open('session-a', { root: 'desk/1' })
    await journal.commit({ snapshot: { tick: 0, lines: ['{}'] } })
    await journal.close()
    const words = ['--database', inject('postgres'), '--schema', schema]
    await expect(said(worldsCommand, ['kill', 'desk/9', ...words])).rejects.toMatchObject({ code: 'no-such-world' })
    await expect(said(worldsCommand, ['release', 'desk/9', ...words])).rejects.toMatchObject({ code: 'no-such-world' })
    await expect(said(worldsCommand, ['kill', 'session-a', ...words])).rejects.toThrow(UsageError)
    await expect(said(worldsCommand, ['kill', 'session-a', ...words])).rejects.toThrow(/Cancel the session through/)
  })
})
