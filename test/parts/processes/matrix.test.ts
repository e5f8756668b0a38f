import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Lab, lab, replies } from '../../doors/matrix/rooms.ts'
import { Program, run } from '../../cli/program.ts'
import { tempFolder } from '../../tools/temp-folder.ts'

const root = join(import.meta.dirname, '../../..')

function started({ env, folder }: Lab): ChildProcess {
  const words = ['--conditions=entia-source', join(root, 'test/programs/matrix-bot.ts'), join(folder, 'notes')]
  const child = spawn(process.execPath, words, { cwd: folder, env: { ...process.env, ...env }, stdio: 'ignore' })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })
  return child
}

describe('a bot that is killed', () => {
  // Requests from its start on: its first syncs, and what it does for each message.
  it.for([3, 5, 6])('at its request %i, again and again, answers each message once and in order', async (nth) => {
    const at = await lab()
    const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
    const rooms = [at.room, kitchen]
    let child = started(at)
    const syncs = () => at.server.requests.filter((each) => each === 'GET /v3/sync').length
    await at.server.until(() => syncs() > 1)
    for (let round = 0; round < 3; round++) {
      for (const room of rooms) at.server.say(room, at.ada, `${round} in ${room}`)
      const killAt = at.server.requests.length + nth + round
      await at.server.until(() => at.server.requests.length >= killAt)
      child.kill('SIGKILL')
      await once(child, 'exit')
      child = started(at)
    }
    for (const room of rooms) at.server.say(room, at.ada, `last in ${room}`)
    await at.server.until(() => rooms.every((room) => replies(at, room).length >= 4))
    const expected = (room: string) =>
      at.server.said(room, at.ada).map(({ content }) => `You said: ${String(content['body'])}`)
    for (const room of rooms) expect(replies(at, room)).toEqual(expected(room))
    const notes = (await readFile(join(at.folder, 'notes'), 'utf8')).split('\n').slice(0, -1)
    expect(notes).toEqual([...new Set(notes)])
  })
})

describe('entia matrix, as a program,', () => {
  it('configures, sends, polls and ends, though its connections are kept alive', async () => {
    const at = await lab(undefined, false)
    const env = { ...at.env, ENTIA_MATRIX_PASSWORD: 'secret', NO_PROXY: '*' }
    expect(await run(['matrix', 'poll'], { in: at.folder, env })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^entia: Matrix is not configured: .* Run: entia matrix configure\n$/),
    })
    const words = ['--server', at.server.url, '--user', 'bot', '--room', at.room, '--users', at.ada]
    expect(await run(['matrix', 'configure', ...words], { in: at.folder, env })).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['matrix', 'send', 'Hello.'], { in: at.folder, env })).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['matrix', 'poll'], { in: at.folder, env })).toEqual({
      ...{ code: 0, signal: null, stdout: '0 replies\n', stderr: '' },
    })
    expect(replies(at, at.room)).toEqual(['Hello.'])
  })

  it('stops at once when it is told to, and has not failed', async () => {
    const at = await lab()
    const program = new Program(['matrix', 'run'], { in: at.folder, env: { ...at.env, NO_PROXY: '*' } })
    await at.server.until(() => at.server.requests.filter((each) => each === 'GET /v3/sync').length > 1)
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({
      ...{ code: 0, stdout: '' },
      stderr: 'Listening to the rooms. Ctrl-C stops it.\nStopped after 0 replies.\n',
    })
  })
})

describe("the door 'entia/matrix'", () => {
  it('says what to type where the SDK is not installed', async () => {
    const missing = `throw Object.assign(new Error("Cannot find package 'matrix-js-sdk'"), { code: 'ERR_MODULE_NOT_FOUND' })`
    expect(await configuring(missing)).toMatchObject({
      code: 'missing-peer',
      message: expect.stringMatching(/Type: npm install matrix-js-sdk$/),
    })
  })

  it('loads the SDK at its first use, which writes nothing and keeps no process alive', async () => {
    const { open, ...rest } = await configuring('')
    expect(open.filter((each) => each !== 'PipeWrap')).toEqual([])
    expect(rest).toMatchObject({
      before: 0,
      after: 1,
      code: 'matrix-failed',
      message: expect.stringMatching(/cannot be reached/),
    })
  })
})

interface Tried {
  /** How often the SDK was asked for, before and after the first call. */
  readonly before: number
  readonly after: number
  readonly code: string
  readonly message: string
  /** What keeps the process alive. */
  readonly open: readonly string[]
}

/** Tries to configure an account of a homeserver that is not there, in a program of its own, which says nothing else. */
async function configuring(whenSdkIsLoaded: string): Promise<Tried> {
  const folder = await tempFolder()
  const door = pathToFileURL(join(root, 'src/doors/matrix/index.ts')).href
  const text = `
    import { registerHooks } from 'node:module'
    let loaded = 0
    registerHooks({
      resolve(name, context, next) {
        if (name === 'matrix-js-sdk') {
          loaded++
          ${whenSdkIsLoaded}
        }
        return next(name, context)
      },
    })
    const { matrixConfigure } = await import(${JSON.stringify(door)})
    const before = loaded
    const given = { server: 'http://127.0.0.1:9', user: 'b', password: 'p', room: '#r:x', users: ['@a:x'] }
    const clock = { now: () => 0, date: () => 0, at: (_, fire) => (setImmediate(fire), () => {}) }
    const { code, message } = await matrixConfigure({ ...given, clock }).catch((error) => error)
    console.log(JSON.stringify({ before, after: loaded, code, message, open: process.getActiveResourcesInfo() }))`
  await writeFile(join(folder, 'program.mjs'), text)
  const words = ['--conditions=entia-source', join(folder, 'program.mjs')]
  const { stderr, stdout } = await promisify(execFile)(process.execPath, words, { timeout: 30_000 })
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Tried
}
