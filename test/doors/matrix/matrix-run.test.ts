import { textOf } from 'entia'
import { matrixPoll, matrixRun, matrixSessions } from 'entia/matrix'
import { openSession } from 'entia/runtime'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { lab, replies, running } from './rooms.ts'

const text = (message: Parameters<typeof textOf>[0]) => textOf(message)

describe('rooms', () => {
  it('keep their words apart, and go on after a restart', async () => {
    const at = await lab()
    const kitchen = at.server.addRoom('kitchen', [at.ada])
    const first = await running(at)
    at.server.invite(kitchen, at.ada, at.bot)
    await at.server.until(() => at.server.isIn(kitchen, at.bot))
    at.server.say(at.room, at.ada, 'atoms')
    at.server.say(kitchen, at.ada, 'bread')
    await at.server.until(() => replies(at, at.room).length === 1 && replies(at, kitchen).length === 1)
    await first.stop()
    await running(at)
    at.server.say(at.room, at.ada, 'more atoms')
    at.server.say(kitchen, at.ada, 'more bread')
    await at.server.until(() => replies(at, at.room).length === 2 && replies(at, kitchen).length === 2)
    const asked = at.requests.map(({ messages }) => messages.map(text).join(' | '))
    expect(asked.filter((words) => words.includes('atoms') && words.includes('bread'))).toEqual([])
    expect(asked).toContain('atoms | You said: atoms | more atoms')
    expect(asked).toContain('bread | You said: bread | more bread')
  })

  it('are answered side by side, and the messages of one in their order', async () => {
    const slow = Promise.withResolvers<void>()
    const at = await lab(async ({ messages }) => {
      const said = text(messages.at(-1))
      if (said === 'slow') await slow.promise
      return `You said: ${said}`
    })
    const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
    await running(at)
    at.server.say(at.room, at.ada, 'slow')
    at.server.say(at.room, at.ada, 'quick')
    at.server.say(kitchen, at.ada, 'bread')
    await at.server.until(() => replies(at, kitchen).length === 1)
    expect(replies(at, at.room)).toEqual([])
    slow.resolve()
    await at.server.until(() => replies(at, at.room).length === 2)
    expect(replies(at, at.room)).toEqual(['You said: slow', 'You said: quick'])
  })
})

describe('a room whose chat another program has open', () => {
  it('is tried again until it can be answered, and keeps no other room from being answered', async () => {
    const at = await lab()
    const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
    const first = await running(at)
    at.server.say(at.room, at.ada, 'one')
    await at.server.until(() => replies(at, at.room).length === 1)
    await first.stop()
    const { cwd, env, host } = at.options
    const other = await openSession({ key: 'latest', cwd, env, host: { models: host.models } })
    await other.start()
    // Each sync comes back at once, so that time goes on.
    await running(at, { timeoutMs: 0 })
    at.server.say(at.room, at.ada, 'two')
    at.server.say(at.room, at.ada, 'three')
    await expect.poll(() => at.notices[0]).toMatch(/^The room !\S+ is tried again in 1 min: /)
    at.server.say(kitchen, at.ada, 'bread')
    await at.server.until(() => replies(at, kitchen).length === 1)
    expect(replies(at, at.room)).toEqual(['You said: one'])
    await other.close()
    await at.server.until(() => replies(at, at.room).length === 3)
    expect(replies(at, at.room)).toEqual(['You said: one', 'You said: two', 'You said: three'])
  })
})

describe('a bot', () => {
  it('that is stopped in the midst of a turn answers after the next start', async () => {
    const slow = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const at = await lab(async ({ messages }) => {
      begun.resolve()
      await slow.promise
      return `You said: ${text(messages.at(-1))}`
    })
    const first = await running(at)
    at.server.say(at.room, at.ada, 'Hello?')
    await begun.promise
    expect(await first.stop()).toBe(0)
    slow.resolve()
    await running(at)
    await at.server.until(() => replies(at, at.room).length === 1)
    expect(replies(at, at.room)).toEqual(['You said: Hello?'])
  })

  it.for<readonly [string, object]>([
    ['an unknown option', { timeOutMs: 1 }],
    ['a time that is none', { timeoutMs: -1 }],
    ['tools that are no list', { tools: 'file' }],
    ['a host that is none', { host: 7 }],
  ])('refuses %s before it asks the homeserver', async ([, wrong]) => {
    const at = await lab()
    const before = at.server.requests.length
    for (const begin of [matrixRun, matrixPoll]) {
      expect(await rejection(begin({ ...at.options, ...wrong }))).toMatchObject({ code: 'invalid-argument' })
    }
    expect(at.server.requests).toHaveLength(before)
  })
})

describe('the chat session of a room', () => {
  it('that is closed in the midst of a turn goes on when it is opened again', async () => {
    const slow = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const at = await lab(async () => {
      begun.resolve()
      await slow.promise
      return 'Done.'
    })
    const sessions = matrixSessions(at.options)
    const left = (await sessions.open(at.room)).turn('Go.').catch(() => undefined)
    await begun.promise
    await sessions.close()
    await left
    slow.resolve()
    const session = await sessions.open(at.room)
    onTestFinished(() => sessions.close())
    expect(session.isBusy).toBe(true)
    expect((await session.attach()).text).toBe('Done.')
    expect(await sessions.open(at.room)).toBe(session)
  })
})

describe('a homeserver that', () => {
  it('answers 429 for an hour is waited for, by the times that it names', async () => {
    const at = await lab()
    const busyUntilMs = 3_600_000
    const asked: number[] = []
    await running(at)
    at.server.fault = () => {
      const nowMs = at.clock.now()
      asked.push(nowMs)
      return nowMs < busyUntilMs ? { status: 429, headers: { 'retry-after': '90' } } : undefined
    }
    at.server.say(at.room, at.ada, 'Hello?')
    await at.server.until(() => replies(at, at.room).length === 1)
    expect(at.clock.now()).toBe(busyUntilMs)
    expect([...new Set(asked)].slice(0, 3)).toEqual([0, 90_000, 180_000])
    expect(replies(at, at.room)).toEqual(['You said: Hello?'])
    expect(at.notices.filter((notice) => notice.includes('429'))).toHaveLength(1)
    expect(at.notices.at(-1)).toBe('The homeserver answers again.')
  })

  it('fails, or is not there, is asked again after times that grow to a minute', async () => {
    const at = await lab()
    const faults = [
      'lost',
      { status: 502, body: '<html>' },
      { status: 500 },
      'lost',
      'lost',
      'lost',
      'lost',
      'lost',
    ] as const
    const asked: number[] = []
    await running(at)
    at.server.fault = ({ path }) => {
      if (path !== '/v3/sync') return undefined
      asked.push(at.clock.now())
      return faults[asked.length - 1]
    }
    at.server.say(at.room, at.ada, 'wake up')
    at.server.say(at.room, at.ada, 'Hello?')
    await at.server.until(() => asked.length > faults.length && replies(at, at.room).length === 2)
    expect(asked.slice(0, 9)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000])
  })

  it('holds no sync back is asked in its own time', async () => {
    const at = await lab()
    let syncs = 0
    await running(at, { timeoutMs: 0 })
    const fromMs = at.clock.now()
    at.server.fault = ({ path }) => void (path === '/v3/sync' && syncs++)
    await at.server.until(() => syncs > 20)
    expect(at.clock.now() - fromMs).toBeGreaterThanOrEqual(9_000)
  })

  it('has forgotten the token gets the password once', async () => {
    const at = await lab()
    await running(at)
    at.server.forgetTokens()
    at.server.say(at.room, at.ada, 'Hello?')
    await at.server.until(() => replies(at, at.room).length === 1)
    expect(at.server.requests.filter((each) => each === 'POST /v3/login')).toHaveLength(2)
  })

  it('forgets tokens as fast as it gives them ends the run, and so does one where no password is stored', async () => {
    const at = await lab()
    const { ended } = await running(at)
    at.server.fault = ({ path }) =>
      path === '/v3/sync' ? { status: 401, body: { errcode: 'M_UNKNOWN_TOKEN', error: 'gone' } } : undefined
    at.server.say(at.room, at.ada, 'Hello?')
    expect(await rejection(ended)).toMatchObject({ code: 'matrix-failed', details: { errcode: 'M_UNKNOWN_TOKEN' } })

    const other = await lab(undefined, { storePassword: false })
    const run = await running(other)
    other.server.forgetTokens()
    other.server.say(other.room, other.ada, 'Hello?')
    expect(await rejection(run.ended)).toMatchObject({ message: expect.stringMatching(/no password is stored/) })
  })
})
