import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { queueCommand } from '../../src/cli/fleet/queue-command.ts'
import { loadFleet } from '../../src/cli/fleet/load-fleet.ts'
import { workerArguments, workerCommand } from '../../src/cli/fleet/worker-command.ts'
import { metricsText } from '../../src/cli/fleet/worker-health.ts'
import { workersCommand } from '../../src/cli/fleet/workers-command.ts'
import { UsageError } from '../../src/cli/parsed-words.ts'
import { worldsCommand } from '../../src/cli/worlds/worlds-command.ts'
import { tempFolder } from '../tools/temp-folder.ts'
import { Output } from './output.ts'

const place = () => ({ environment: {}, cwd: '.', stdout: new Output(), stderr: new Output() })

async function fileOf(text: string): Promise<string> {
  const file = join(await tempFolder(), 'agents.mjs')
  writeFileSync(file, text)
  return file
}

describe('the arguments of entia worker', () => {
  it('name a file, and how much the worker takes', () => {
    const words = ['agents.ts', '--sessions', '5', '--worlds', '7', '--note', 'a', '--health', '8080']
    expect(workerArguments(words)).toEqual({
      file: 'agents.ts',
      database: undefined,
      health: { host: '127.0.0.1', port: 8080 },
      options: { sessions: 5, worlds: 7, note: 'a' },
    })
    expect(workerArguments(['--help'])).toBeUndefined()
  })

  it.each([
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
    ['[::1]:80', { host: '::1', port: 80 }],
  ])('take %s as the address of the health', (text, health) => {
    expect(workerArguments(['agents.ts', '--health', text])).toMatchObject({ health })
  })

  it.each([
    [[], /needs the file that exports the fleet/],
    [['a.ts', 'b.ts'], /takes one file, got a\.ts b\.ts/],
    [['a.ts', '--sessions', 'many'], /--sessions must be an integer ≥ 0, got many/],
    [['a.ts', '--health', '70000'], /--health must be a port, or HOST:PORT, got "70000"/],
    [['a.ts', '--health', 'here'], /--health must be a port/],
    [['a.ts', '--database', ' '], /--database must not be empty/],
    [['a.ts', '--other'], /There is no option --other/],
  ])('are refused: %j', (words, message) => {
    expect(() => workerArguments(words)).toThrow(UsageError)
    expect(() => workerArguments(words)).toThrow(message)
  })
})

describe('the file of a fleet', () => {
  it.each([
    ['export const one = 1', /exports no fleet: it has no default export\. Write: export default defineFleet/],
    ['export default []', /its default export is a list/],
    ['export default null', /its default export is null/],
    ['export default { work: 1 }', /its default export is an object that is no fleet/],
    ["throw new Error('no database')", /cannot be loaded: no database\. If it reads DATABASE_URL: that is not set/],
  ])('that says %j is refused', async (text, message) => {
    await expect(loadFleet(await fileOf(text), false)).rejects.toThrow(message)
  })

  it('has to be there', async () => {
    await expect(loadFleet('nowhere.ts', true)).rejects.toThrow(/There is no file .*nowhere\.ts/)
  })

  it('has to name the database that the command line names', async () => {
    const file = await fileOf("export default { database: 'postgres://one/a', work: () => {} }")
    const output = new Output()
    const worker = { environment: {}, stdout: output, stderr: output, interruption: () => expect.unreachable() }
    await expect(workerCommand([file, '--database', 'postgres://two/b'], worker)).rejects.toThrow(
      /names another database than --database\. Write database: process\.env\.DATABASE_URL/,
    )
  })
})

describe('commands that look at a fleet', () => {
  it.each([
    ['workers', workersCommand],
    ['queue', queueCommand],
  ])('entia %s needs a database, and takes no words', async (name, command) => {
    await expect(command([], place())).rejects.toThrow(new RegExp(`entia ${name} needs the database of the fleet: set`))
    await expect(command(['more'], place())).rejects.toThrow(/takes no words, got more/)
    await expect(command(['--database', 'mysql://host/a'], place())).rejects.toMatchObject({ code: 'config-invalid' })
  })

  it('show their help', async () => {
    for (const command of [workersCommand, queueCommand]) {
      const output = place()
      expect(await command(['--help'], output)).toBe(0)
      expect(output.stdout.text).toMatch(/--database URL +as postgres:\/\//)
    }
  })

  it('kill and release worlds in a database alone', async () => {
    const folder = await tempFolder()
    for (const verb of ['kill', 'release']) {
      const words = [verb, 'desk', '--store', folder]
      await expect(worldsCommand(words, place())).rejects.toThrow(/is for worlds in a database: --database postgres:/)
      await expect(worldsCommand([verb], place())).rejects.toThrow(UsageError)
    }
    await expect(worldsCommand(['list', '--reason', 'x'], place())).rejects.toThrow(
      '--reason is for entia worlds kill.',
    )
    await expect(worldsCommand(['list', '--schema', 'x', '--store', folder], place())).rejects.toThrow(
      '--schema is for a database',
    )
  })
})

describe('numbers for Prometheus', () => {
  it('each have a help, a type and a value', () => {
    const text = metricsText({
      commits: 5,
      fenced: 1,
      recovered: 2,
      worldsHeld: 3,
      sessionsHeld: 4,
      sessionsRunning: 6,
      sessionsWaiting: 7,
      lettersWaiting: 8,
      oldestLetterMs: 1_500,
      workersAlive: 9,
      worldsQuarantined: 10,
    })
    expect(text.split('\n').slice(0, 3)).toEqual([
      '# HELP entia_worlds_held Root worlds that this worker holds.',
      '# TYPE entia_worlds_held gauge',
      'entia_worlds_held 3',
    ])
    expect(text).toMatch(/^# TYPE entia_commits_total counter\nentia_commits_total 5$/m)
    expect(text).toMatch(/^entia_oldest_letter_seconds 1\.5$/m)
  })
})
