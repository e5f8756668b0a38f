import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { textOf } from 'entia'
import { matrixPoll, matrixSessions } from 'entia/matrix'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rejection } from '../../behaviour/turns/driving.ts'
import { type Lab, lab, replies } from './rooms.ts'

/** A lab whose first poll is over. */
async function polled(...given: Parameters<typeof lab>): Promise<Lab> {
  const at = await lab(...given)
  await matrixPoll(at.options)
  return at
}

describe('a poll', () => {
  it('answers what is said after the first one, which only notes where to begin', async () => {
    const at = await lab()
    at.server.say(at.room, at.ada, 'before')
    expect(await matrixPoll(at.options)).toBe(0)
    at.server.say(at.room, at.ada, 'Hello?')
    expect(await matrixPoll(at.options)).toBe(1)
    expect(replies(at, at.room)).toEqual(['You said: Hello?'])
    expect(await matrixPoll(at.options)).toBe(0)
  })

  it('answers a message once, though the homeserver says it again', async () => {
    const at = await polled()
    at.server.say(at.room, at.ada, 'Hello?')
    expect(await matrixPoll(at.options)).toBe(1)
    at.server.fault = ({ path }) => (path === '/v3/sync' ? 'repeated' : undefined)
    expect(await matrixPoll(at.options)).toBe(0)
    expect(replies(at, at.room)).toHaveLength(1)
  })

  it('answers a message once, though what was saved of its answer is lost', async () => {
    const at = await polled()
    const path = join(at.env.ENTIA_DATA_DIR, 'matrix/position.json')
    const before = await readFile(path, 'utf8')
    at.server.say(at.room, at.ada, 'Hello?')
    await matrixPoll(at.options)
    await writeFile(path, before)
    await matrixPoll(at.options)
    expect(replies(at, at.room)).toEqual(['You said: Hello?'])
    expect(at.requests).toHaveLength(1)
  })

  it('sends a reply once, though the answers of the homeserver get lost', async () => {
    const at = await polled()
    at.server.say(at.room, at.ada, 'Hello?')
    let lost = 0
    at.server.fault = ({ path }) => (path.includes('/send/') && lost++ < 3 ? 'reply-lost' : undefined)
    expect(await matrixPoll(at.options)).toBe(1)
    expect(lost).toBe(4)
    expect(replies(at, at.room)).toHaveLength(1)
  })

  it.for([1, 2, 3, 4])('that loses the homeserver after %i requests leaves the rest to the next one', async (count) => {
    const at = await polled()
    const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
    at.server.say(at.room, at.ada, 'Hello?')
    at.server.say(kitchen, at.ada, 'Bread?')
    const from = at.server.requests.length
    at.server.fault = ({ index }) => (index < from + count ? undefined : index % 2 === 0 ? 'lost' : 'reply-lost')
    expect(await rejection(matrixPoll(at.options))).toMatchObject({ code: 'matrix-failed' })
    at.server.fault = () => undefined
    await matrixPoll(at.options)
    expect([...replies(at, at.room), ...replies(at, kitchen)]).toEqual(['You said: Hello?', 'You said: Bread?'])
    expect(await matrixPoll(at.options)).toBe(0)
    expect(at.requests.length).toBe(2)
  })

  it('begins each message anew, or goes on with the chat session of its room', async () => {
    const at = await polled()
    const said = async (words: string, options = at.options) => {
      at.server.say(at.room, at.ada, words)
      await matrixPoll(options)
      return at.requests.at(-1)?.messages.map((message) => textOf(message))
    }
    expect(await said('one')).toEqual(['one'])
    expect(await said('two')).toEqual(['two'])
    const sessions = matrixSessions(at.options)
    onTestFinished(() => sessions.close())
    const kept = { env: at.env, sessions }
    at.server.say(at.room, at.ada, 'three')
    expect(await matrixPoll({ sessions })).toBe(1)
    at.server.say(at.room, at.ada, 'four')
    expect(await matrixPoll({ sessions })).toBe(1)
    expect(at.requests.at(-1)?.messages.map((message) => textOf(message))).toEqual(['three', 'You said: three', 'four'])
    expect(await sessions.list()).toMatchObject([{ roomId: at.room, name: 'lab', archivedThrough: 0 }])
    expect(await rejection(matrixPoll(kept))).toMatchObject({
      code: 'invalid-argument',
      message: 'matrixPoll: env cannot be said besides sessions. Say it there: matrixSessions({ env }).',
    })
  })

  it.for<readonly [string, (at: Lab) => unknown]>([
    ['the account itself says', (at) => at.server.say(at.room, at.bot, 'I')],
    ['somebody else says', (at) => at.server.say(at.room, at.eve, 'Hello?')],
    ['is a notice', (at) => at.server.add(at.room, at.ada, 'm.room.message', { msgtype: 'm.notice', body: 'N' })],
    ['is a picture', (at) => at.server.add(at.room, at.ada, 'm.room.message', { msgtype: 'm.image', body: 'a.png' })],
    ['is blank', (at) => at.server.say(at.room, at.ada, ' \n')],
    [
      'was redacted',
      (at) => {
        const unsigned = { redacted_because: { type: 'm.room.redaction' } }
        at.server.add(at.room, at.ada, 'm.room.message', {}, { unsigned })
        at.server.add(at.room, at.ada, 'm.room.message', { msgtype: 'm.text', body: 'R' }, { unsigned })
      },
    ],
    ['cannot be read', (at) => at.server.add(at.room, at.ada, 'm.room.message', { msgtype: 'm.text', body: 7 })],
    [
      'is an edit',
      (at) =>
        at.server.add(at.room, at.ada, 'm.room.message', {
          ...{ msgtype: 'm.text', body: '* Hello!' },
          'm.relates_to': { rel_type: 'm.replace', event_id: '$1' },
        }),
    ],
  ])('leaves alone what %s', async ([, happens]) => {
    const at = await polled()
    happens(at)
    expect(await matrixPoll(at.options)).toBe(0)
    expect(at.requests).toEqual([])
  })

  it('says once in a room that it cannot read encrypted messages', async () => {
    const at = await polled()
    at.server.state(at.room, at.ada, 'm.room.encryption', { algorithm: 'm.megolm.v1.aes-sha2' })
    for (const body of ['one', 'two']) {
      at.server.add(at.room, at.ada, 'm.room.encrypted', { ciphertext: body })
      at.server.say(at.room, at.ada, 'in plain words, which somebody put in')
      expect(await matrixPoll(at.options)).toBe(0)
    }
    expect(replies(at, at.room)).toEqual([expect.stringMatching(/^This room is encrypted/)])
    expect(at.notices).toEqual([expect.stringMatching(/!lab:local is encrypted, and messages in it are not answered/)])
  })

  it('takes invitations of its users alone, and what was said before is history', async () => {
    const at = await lab()
    const kitchen = at.server.addRoom('kitchen', [at.ada])
    const cellar = at.server.addRoom('cellar', [at.eve])
    at.server.say(kitchen, at.ada, 'old words')
    at.server.invite(kitchen, at.ada, at.bot)
    expect(await matrixPoll(at.options)).toBe(0)
    at.server.invite(cellar, at.eve, at.bot)
    expect(await matrixPoll(at.options)).toBe(0)
    expect([at.server.isIn(kitchen, at.bot), at.server.isIn(cellar, at.bot)]).toEqual([true, false])
    expect(at.notices).toEqual([expect.stringMatching(/An invitation to !cellar:local by @eve:local is left alone/)])
    at.server.say(kitchen, at.ada, 'new words')
    expect(await matrixPoll(at.options)).toBe(1)
    expect(replies(at, kitchen)).toEqual(['You said: new words'])
  })

  it('answers what a sync left out because it was too much', async () => {
    const at = await polled()
    for (let n = 1; n <= 230; n++) at.server.add(at.room, at.eve, 'm.room.message', { msgtype: 'm.text', body: `${n}` })
    at.server.say(at.room, at.ada, 'first')
    for (let n = 1; n <= 230; n++) at.server.add(at.room, at.eve, 'm.room.message', { msgtype: 'm.text', body: `${n}` })
    at.server.say(at.room, at.ada, 'last')
    expect(await matrixPoll(at.options)).toBe(2)
    expect(replies(at, at.room)).toEqual(['You said: first', 'You said: last'])
  })

  it('says in the room that a turn failed, and to the program why', async () => {
    const at = await polled(() => {
      throw new Error('the model is away')
    })
    at.server.say(at.room, at.ada, 'Hello?')
    expect(await matrixPoll(at.options)).toBe(1)
    expect(replies(at, at.room)).toEqual([expect.stringMatching(/^\[turn failed: [a-z-]+\]$/)])
    expect(at.notices).toEqual([expect.stringMatching(/the model is away/)])
  })

  it('gives up a reply that the homeserver will never take, and goes on', async () => {
    const at = await polled()
    at.server.say(at.room, at.ada, 'Hello?')
    at.server.fault = ({ path }) =>
      path.includes('/send/') ? { status: 403, body: { errcode: 'M_FORBIDDEN', error: 'You are muted' } } : undefined
    expect(await matrixPoll(at.options)).toBe(0)
    expect(at.notices).toEqual([
      expect.stringMatching(/A reply cannot be sent to !lab:local, and is given up: .*You are muted/),
    ])
    at.server.fault = () => undefined
    expect(await matrixPoll(at.options)).toBe(0)
  })

  it('gives up where the homeserver names a time that is too long, and the next one goes on', async () => {
    const at = await polled()
    at.server.say(at.room, at.ada, 'Hello?')
    at.server.fault = () => ({
      status: 429,
      body: { errcode: 'M_LIMIT_EXCEEDED', error: 'slow', retry_after_ms: 3_600_000 },
    })
    expect(await rejection(matrixPoll(at.options))).toMatchObject({ code: 'matrix-failed', details: { status: 429 } })
    at.server.fault = () => undefined
    expect(await matrixPoll(at.options)).toBe(1)
  })

  it('refuses a position that cannot be read, rather than to begin anew', async () => {
    const at = await polled()
    await writeFile(join(at.env.ENTIA_DATA_DIR, 'matrix/position.json'), '{ "since": ')
    expect(await rejection(matrixPoll(at.options))).toMatchObject({ code: 'store-failed' })
  })
})
