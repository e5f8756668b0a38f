import { matrixSend } from 'entia/matrix'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxMessageBytes, messageParts } from '../../../src/doors/matrix/message-parts.ts'
import { rejection } from '../../behaviour/turns/driving.ts'
import { lab, replies } from './rooms.ts'

describe('matrixSend', () => {
  it('sends to the configured room, or another one, and gives the id of the event', async () => {
    const at = await lab()
    const kitchen = at.server.addRoom('kitchen', [at.ada, at.bot])
    const id = await matrixSend('Dinner.', { env: at.env, roomId: '#kitchen:local', msgtype: 'm.notice' })
    expect(at.server.said(kitchen)).toMatchObject([{ event_id: id, content: { msgtype: 'm.notice', body: 'Dinner.' } }])
    await matrixSend('Hello.', { env: at.env })
    expect(replies(at, at.room)).toEqual(['Hello.'])
  })

  it('sends a text once, though the answer gets lost', async () => {
    const at = await lab()
    let lost = 0
    at.server.fault = ({ path }) => (path.includes('/send/') && lost++ === 0 ? 'reply-lost' : undefined)
    const id = await matrixSend('Hello.', { env: at.env, clock: at.clock, onNotice: () => undefined })
    expect(at.server.said(at.room).map((event) => event.event_id)).toEqual([id])
  })

  it('says what the homeserver has against it', async () => {
    const at = await lab()
    at.server.addRoom('cellar', [at.eve])
    const { clock, env } = at
    expect(await rejection(matrixSend('Hello.', { env, clock, roomId: '!cellar:local' }))).toMatchObject({
      code: 'matrix-failed',
      message: expect.stringMatching(/^The homeserver answered 403 M_FORBIDDEN: You are not in this room \(PUT /),
    })
    const wrong: readonly (readonly [string, object])[] = [
      ['', {}],
      ['x', { msgtype: 'm.image' }],
      ['x', { room: '!lab:local' }],
    ]
    for (const [text, options] of wrong) {
      expect(await rejection(matrixSend(text, { env, ...options }))).toMatchObject({
        code: 'invalid-argument',
      })
    }
  })
})

describe('a long text', () => {
  it('of 30,000 bytes is one message, and longer it is cut at line ends', () => {
    const line = `${'x'.repeat(9_999)}\n`
    expect(messageParts(line.repeat(3))).toHaveLength(1)
    expect(messageParts(line.repeat(7)).map((part) => part.length)).toEqual([30_000, 30_000, 10_000])
  })

  it('is cut in parts that fit an event, make the text again, and split no character', () => {
    const pieces = fc.constantFrom('a', '\n', '😀', 'é', '\u0001', '"', '中'.repeat(9_000), 'line\n'.repeat(3_000))
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (given) => {
        const text = given.join('')
        const parts = messageParts(text)
        expect(parts.join('')).toBe(text)
        for (const part of parts) {
          expect(Buffer.byteLength(part)).toBeLessThanOrEqual(maxMessageBytes)
          expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(2 * maxMessageBytes + 2)
          expect(part.isWellFormed()).toBe(true)
        }
      }),
      { numRuns: 50 },
    )
  })
})
