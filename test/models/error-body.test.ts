import { describe, expect, it } from 'vitest'
import { readErrorBody } from '../../src/models/error-body.ts'

describe('the body of an error', () => {
  it.each([
    ['in `error`', { error: { message: 'No.', type: 't', code: 'c' } }, { message: 'No.', names: ['c', 't'] }],
    ['in a list of Google', [{ error: { message: 'No.', status: 'S', code: 429 } }], { names: ['S'], status: 429 }],
    ['first of `errors`', { errors: [{ message: 'No.', code: 'c' }, { message: 'Nor this.' }] }, { names: ['c'] }],
    ['in `detail`', { detail: { msg: 'No.', type: 't' } }, { message: 'No.', names: ['t'] }],
    ['a text in `detail`', { detail: 'No.' }, { message: 'No.', names: [] }],
    ['with its code beside it', { code: 'c', error: 'No.' }, { message: 'No.', names: ['c'] }],
    ['with its type beside it', { type: 't', error: { message: 'No.' } }, { names: ['t'] }],
    ['with its status beside it', { status: 503, error: { message: 'No.' } }, { status: 503 }],
    ['with a code within', { error: { message: 'No.', code: 'c', innererror: { code: 'i' } } }, { names: ['i', 'c'] }],
    [
      'with a code among details',
      { error: { message: 'No.', details: { error_code: 'd' }, type: 't' } },
      { names: ['d', 't'] },
    ],
    ['of TGI', { error: 'No.', error_type: 'validation' }, { message: 'No.', names: [] }],
    ['with a type of TGI', { error: { message: 'No.', error_type: 'overloaded' } }, { names: ['overloaded'] }],
    [
      'of Bedrock',
      { Message: 'No.', __type: 'ThrottlingException' },
      { message: 'No.', names: ['ThrottlingException'] },
    ],
    ['that is a number', { error: { message: 'No.', code: '429' } }, { status: 429 }],
    [
      'of a router, with the words behind it',
      { error: { message: 'It failed', metadata: { raw: 'No.' } } },
      { message: 'It failed: No.' },
    ],
    ['without words', { error: { reason: 'odd' } }, { message: '{"reason":"odd"}' }],
    ['with a blank message', { error: { message: '', reason: 'odd' } }, { message: '{"message":"","reason":"odd"}' }],
    ['that says when', { error: { message: 'No.' }, retry_after: 3 }, { retryAfterMs: 3_000 }],
  ])('is read: %s', (_, body, said) => {
    expect(readErrorBody(JSON.stringify(body))).toMatchObject(said)
  })

  it.each([
    ['<html><body>Bad <b>gateway</b></body></html>', 'Bad gateway', false],
    ['<html></html>', '<html></html>', false],
    ['No.', 'No.', true],
    [' ', 'it gave no reason', false],
    ['{"choices":[]}', '{"choices":[]}', false],
  ])('may be none: %j', (text, message, isError) => {
    expect(readErrorBody(text)).toMatchObject({ message, isError })
  })
})
