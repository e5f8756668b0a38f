import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxThrownChars, thrownMessage } from '../../src/base/thrown-message.ts'

function hostile(): never {
  throw new Error('hostile')
}

const revoked = Proxy.revocable({}, {})
revoked.revoke()

describe('the message of something thrown', () => {
  it.each([
    ['an Error', new Error('the disk is full'), 'the disk is full'],
    ['an error of another class', new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['an Error without a message', new Error(''), 'an error without a message was thrown'],
    ['an error with only a code', Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET'],
    [
      'an error with a cause',
      new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
      'TypeError: fetch failed (ECONNREFUSED)',
    ],
    [
      'an error that repeats its cause',
      new Error('The file cannot be read: EACCES: permission denied. Mend that.', {
        cause: new Error('EACCES: permission denied'),
      }),
      'The file cannot be read: EACCES: permission denied. Mend that.',
    ],
    ['several errors at once', new AggregateError([new Error('a'), 'b']), 'AggregateError (a; b)'],
    ['a text', 'x', 'x'],
    ['an empty text', ' ', 'an empty text was thrown'],
    ['nothing', undefined, 'undefined was thrown'],
    ['null', null, 'null was thrown'],
    ['a number', 7, '7 was thrown'],
    ['a BigInt', 7n, '7n was thrown'],
    ['a symbol', Symbol('stop'), 'Symbol(stop) was thrown'],
    ['an object with a message', { message: 'quota', status: 429 }, 'quota'],
    ['an object without one', { status: 429, body: { a: [1] } }, '{ status: 429, body: { a: [ 1 ] } } was thrown'],
    [
      'a getter that throws',
      {
        get message() {
          return hostile()
        },
      },
      'something was thrown that cannot be read',
    ],
    [
      'a proxy that throws',
      new Proxy({}, { has: hostile, getPrototypeOf: hostile, get: hostile }),
      'something was thrown that cannot be read',
    ],
    ['a proxy that is revoked', revoked.proxy, 'something was thrown that cannot be read'],
  ])('says what is known of %s', (_, value, message) => {
    expect(thrownMessage(value)).toBe(message)
  })

  it('ends, also where causes go round in a circle', () => {
    const error = new Error('a')
    error.cause = new Error('b', { cause: error })
    expect(thrownMessage(error)).toBe('a (b (a (b (a))))')
  })

  it('is no longer than its cap and splits no surrogate pair', () => {
    const message = thrownMessage(new Error(`x${'\u{1f600}'.repeat(5_000)}`))
    expect(message.length).toBeLessThanOrEqual(maxThrownChars)
    expect(message.endsWith('\u{1f600}…')).toBe(true)
    expect(message.isWellFormed()).toBe(true)
  })

  it('comes out of anything, capped and not empty', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        (value) => {
          for (const thrown of [value, Object.assign(new Error(), { message: value, name: value, cause: value })]) {
            const message = thrownMessage(thrown)
            expect(message.length).toBeGreaterThan(0)
            expect(message.length).toBeLessThanOrEqual(maxThrownChars)
          }
        },
      ),
    )
  })
})
