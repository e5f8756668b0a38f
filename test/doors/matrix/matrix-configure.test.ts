import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { matrixConfigure, matrixPoll } from 'entia/matrix'
import { describe, expect, it } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { lab } from './rooms.ts'

const fileOf = ({ env }: { readonly env: { readonly ENTIA_CONFIG_DIR: string } }) =>
  join(env.ENTIA_CONFIG_DIR, 'matrix.json')

describe('matrixConfigure', () => {
  it('logs in, joins the room, and writes a file for this user alone', async () => {
    const at = await lab(undefined, { approvers: ['@ada:local'], tools: ['core'] })
    expect((await stat(fileOf(at))).mode & 0o777).toBe(0o600)
    expect((await stat(at.env.ENTIA_CONFIG_DIR)).mode & 0o777).toBe(0o700)
    expect(JSON.parse(await readFile(fileOf(at), 'utf8'))).toEqual({
      version: 1,
      server: at.server.url,
      userId: '@bot:local',
      deviceId: expect.stringMatching(/^DEVICE/) as string,
      accessToken: expect.stringMatching(/^token-/) as string,
      password: 'secret',
      room: '!lab:local',
      users: ['@ada:local'],
      approvers: ['@ada:local'],
      autoApproveAsks: false,
      tools: ['core'],
    })
    expect(at.server.isIn(at.room, at.bot)).toBe(true)
  })

  it('keeps no password where that is asked for', async () => {
    const at = await lab(undefined, { storePassword: false })
    expect(await readFile(fileOf(at), 'utf8')).not.toContain('secret')
  })

  it('leaves the earlier file as it is, and its token in force, where anything fails', async () => {
    const at = await lab()
    const before = await readFile(fileOf(at), 'utf8')
    const closed = at.server.addRoom('closed', [at.ada], { isEncrypted: true })
    const failing: readonly [Partial<Parameters<typeof matrixConfigure>[0]>, object][] = [
      [{ password: 'wrong' }, { code: 'matrix-failed', details: { status: 403, errcode: 'M_FORBIDDEN' } }],
      [{ room: '#nowhere:local' }, { code: 'matrix-failed', details: { status: 404, errcode: 'M_NOT_FOUND' } }],
      [
        { room: closed },
        { code: 'encrypted-room', message: expect.stringMatching(/^The room !closed:local is encrypted/) },
      ],
      [{ server: 'http://127.0.0.1:9' }, { code: 'matrix-failed' }],
    ]
    for (const [wrong, error] of failing) {
      expect(await rejection(matrixConfigure({ ...at.configuration, ...wrong }))).toMatchObject(error)
    }
    expect(await readFile(fileOf(at), 'utf8')).toBe(before)
    expect(await matrixPoll(at.options)).toBe(0)
    // What was logged in for nothing is logged out.
    expect(at.server.requests.filter((each) => each === 'POST /v3/logout')).toHaveLength(2)
  })

  it.for<readonly [string, object, RegExp]>([
    [
      'no user who is answered',
      { users: [] },
      /users must be a list of user ids such as @ada:example.org, at least one, got/,
    ],
    ['a name that is no id', { users: ['ada'] }, /users must be a list of user ids/],
    ['users left out', { users: undefined }, /users must be a list of user ids/],
    ['an approver that is no id', { approvers: ['ada'] }, /approvers must be .* @ada:example.org/],
    ['a server without a protocol', { server: 'matrix.org' }, /server must be an address such as https/],
    ['an empty password', { password: ' ' }, /password must be a text that is not empty/],
    ['an unknown option', { pasword: 'x' }, /pasword/],
  ])('refuses %s before it asks the server', async ([, wrong, message]) => {
    const at = await lab(undefined, false)
    const given = { ...at.configuration, ...wrong } as Parameters<typeof matrixConfigure>[0]
    expect(await rejection(matrixConfigure(given))).toMatchObject({
      code: 'invalid-argument',
      message: expect.stringMatching(message),
    })
    expect(at.server.requests).toEqual([])
  })
})

describe('matrix.json', () => {
  it('that others may read is tightened, which is said once', async () => {
    const at = await lab()
    await chmod(fileOf(at), 0o644)
    await matrixPoll(at.options)
    expect((await stat(fileOf(at))).mode & 0o777).toBe(0o600)
    expect(at.notices).toEqual([
      expect.stringMatching(/matrix.json could be read by others \(mode 644\): it is 600 now/),
    ])
  })

  it('that is no file is named', async () => {
    const at = await lab(undefined, false)
    await mkdir(fileOf(at), { recursive: true })
    expect(await rejection(matrixPoll(at.options))).toMatchObject({
      code: 'store-failed',
      message: expect.stringMatching(/matrix.json cannot be read: EISDIR/),
    })
  })

  it('that is missing or wrong is named with what to do, and never shown', async () => {
    const at = await lab(undefined, false)
    const missing = await rejection(matrixPoll(at.options))
    expect(missing).toMatchObject({
      code: 'matrix-not-configured',
      message: expect.stringMatching(/there is no file .*matrix.json. Run: entia matrix configure/),
    })
    await matrixConfigure(at.configuration)
    for (const [content, why] of [
      ['{ "password": "secret", ', 'is not JSON'],
      ['{ "password": "secret", "user": 5 }', 'user: no such field is known'],
    ] as const) {
      await writeFile(fileOf(at), content)
      const wrong = await rejection(matrixPoll(at.options))
      expect(wrong).toMatchObject({ code: 'config-invalid', message: expect.stringContaining(why) as string })
      expect(String(wrong)).not.toContain('secret')
    }
  })
})
