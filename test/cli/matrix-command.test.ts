import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { matrixCommand, type MatrixPlace } from '../../src/cli/matrix-command.ts'
import { UsageError } from '../../src/cli/parsed-words.ts'
import { rejection } from '../behaviour/turns/driving.ts'
import { lab, type Lab } from '../doors/matrix/rooms.ts'

interface Given {
  readonly piped?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** What a command prints; without a terminal. */
async function told(at: Lab, words: readonly string[], { env = {}, piped = '', signal }: Given = {}) {
  let [stdout, stderr] = ['', '']
  const stdin = new PassThrough()
  stdin.end(piped)
  const place: MatrixPlace = {
    environment: { ...at.env, ...env },
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    interruption: () => ({ signal: signal ?? new AbortController().signal, exitCode: () => 143 }),
  }
  const code = await matrixCommand(words, place)
  return { code, stdout, stderr }
}

const configuring = ({ server }: Lab) => [
  ...['configure', '--server', server.url, '--user', 'bot', '--room', '#lab:local'],
  ...['--users', '@ada:local, @eve:local'],
]

describe('entia matrix configure', () => {
  it('takes the password from a variable, or from what is piped in', async () => {
    const at = await lab(undefined, false)
    const first = await told(at, configuring(at), { env: { ENTIA_MATRIX_PASSWORD: 'secret' } })
    const path = join(at.env.ENTIA_CONFIG_DIR, 'matrix.json')
    expect(first).toEqual({
      code: 0,
      stdout: `@bot:local answers @ada:local, @eve:local in #lab:local.\nWritten: ${path}\nTo begin: entia matrix run\n`,
      stderr: '',
    })
    const words = [...configuring(at), '--password-stdin', '--no-store-password', '--tools', 'file,git', '--json']
    const { stdout } = await told(at, words, { piped: 'secret\n' })
    expect(JSON.parse(stdout)).toEqual({ path, userId: '@bot:local', roomId: '!lab:local' })
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ tools: ['file', 'git'], users: [at.ada, at.eve] })
    expect(await readFile(path, 'utf8')).not.toContain('secret')
  })

  it.for<readonly [string, readonly string[], RegExp]>([
    ['a password among the options', ['--password', 'secret'], /There is no option --password/],
    ['nothing to go by', [], /needs --server, --user, --room, --users/],
    [
      'no password',
      ['--server', 'http://x', '--user', 'b', '--room', '#r', '--users', '@a:b'],
      /set ENTIA_MATRIX_PASSWORD/,
    ],
    ['an option of another command', ['--notice'], /entia matrix configure has no option --notice/],
    ['words too many', ['now'], /takes no more words, got now/],
  ])('refuses %s', async ([, words, message]) => {
    const at = await lab(undefined, false)
    const error = await rejection(told(at, ['configure', ...words]))
    expect(error).toBeInstanceOf(UsageError)
    expect((error as Error).message).toMatch(message)
  })
})

describe('entia matrix', () => {
  it('polls, sends, and asks to archive', async () => {
    const at = await lab()
    expect(await told(at, ['poll'])).toMatchObject({ code: 0, stdout: '0 replies\n' })
    expect(JSON.parse((await told(at, ['poll', '--json'])).stdout)).toEqual({ replies: 0 })
    const { stdout } = await told(at, ['send', 'Dinner', 'is ready.'])
    expect(at.server.said(at.room)).toMatchObject([
      { event_id: stdout.trim(), content: { msgtype: 'm.text', body: 'Dinner is ready.' } },
    ])
    await told(at, ['send', '-', '--notice', '--json'], { piped: 'From a pipe.\n' })
    expect(at.server.said(at.room).at(-1)?.content).toEqual({ msgtype: 'm.notice', body: 'From a pipe.\n' })
    expect(await told(at, ['flush'])).toMatchObject({ code: 0 })
    await access(join(at.env.ENTIA_DATA_DIR, 'state/archive.signal'))
  })

  it('runs until it is told to stop', async () => {
    const at = await lab()
    const stopping = new AbortController()
    const ended = told(at, ['run', '--timeout', '1'], { signal: stopping.signal })
    await at.server.until(() => at.server.requests.filter((each) => each === 'GET /v3/sync').length > 1)
    stopping.abort()
    expect(await ended).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Listening to the rooms. Ctrl-C stops it.\nStopped after 0 replies.\n',
    })
  })

  it('proposes a command for a wrong one, and names those it has', async () => {
    const at = await lab(undefined, false)
    expect(String(await rejection(told(at, ['rnu'])))).toContain('run')
    expect(String(await rejection(told(at, [])))).toContain('configure, run, poll, send, flush')
    expect((await told(at, ['--help'])).stdout).toMatch(/^Have an agent answer in Matrix rooms/)
  })
})
