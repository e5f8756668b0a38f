import { assistant, EntiaError, type Message, user } from 'entia'
import { estimateTokens } from 'entia/context'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAtLeast } from '../../../src/rules/tokens/estimate-tokens.ts'

const raw = { factor: 1 }
const textOf = (text: string): number => estimateTokens(text, raw)

function calling(name: string, parameters: Record<string, string>, malformed?: string): Message {
  const call = { type: 'tool-call' as const, id: 'call_1', name, arguments: parameters }
  return { role: 'assistant', content: [malformed === undefined ? call : { ...call, malformed }] }
}

describe('an estimate of a text', () => {
  it('counts tokens of the vocabulary o200k', () => {
    expect(textOf('Hello world')).toBe(2)
    expect(textOf('2 + 2 = 4')).toBe(7)
    expect(textOf('antidisestablishmentarianism')).toBe(6)
    expect(textOf('お誕生日おめでとう')).toBe(8)
  })

  it('is 0 where there is nothing to count', () => {
    expect(textOf('')).toBe(0)
    expect(estimateTokens([], { factor: 3 })).toBe(0)
  })

  it('is multiplied by the factor and rounded up', () => {
    expect(estimateTokens('Hello world', { factor: 1.25 })).toBe(3)
    expect(estimateTokens('Hello world', { factor: 0.5 })).toBe(1)
    expect(estimateTokens('Hello world', { factor: 3 })).toBe(6)
  })

  it.for([0, -1, Number.NaN, Infinity])('is refused for a factor of %s', (factor) => {
    expect(() => estimateTokens('', { factor })).toThrow(EntiaError)
    expect(() => estimateTokens('', { factor })).toThrow(`factor must be a number above 0, got ${factor}`)
  })

  it.for([
    ['a million letters a', 'a'.repeat(1_000_000)],
    ['a million digits', '7'.repeat(1_000_000)],
    ['a special token, a hundred thousand times', '<|endoftext|>'.repeat(100_000)],
    ['a lone surrogate, half a million times', '\ud83d'.repeat(500_000)],
    ['a million spaces', ' '.repeat(1_000_000)],
  ])('of %s ends, as its pieces are short', ([, text = '']) => {
    textOf('The tokenizer is loaded.')
    expect(textOf(text)).toBeGreaterThan(1_000)
  })

  it.for(['<|endoftext|>', '<|im_start|>', '<|endofprompt|>'])('takes %s for text', (text) => {
    expect(textOf(text)).toBeGreaterThan(3)
    expect(textOf(`Then ${text} stands here.`)).toBeGreaterThan(textOf('Then stands here.') + 3)
    expect(estimateTokens(user(text), raw)).toBe(textOf(text) + 4)
  })

  it('counts a lone surrogate, wherever it stands', () => {
    for (const text of ['\ud83d', '\ude00', 'a\ud83d', '\ude00\ud83d', `${'a'.repeat(1_023)}\ud83d`])
      expect(textOf(text)).toBeGreaterThan(0)
  })

  it('is the sum of pieces of 1,024 characters, of which none splits a pair of surrogates', () => {
    const pairs = '😀'.repeat(512)
    const word = 'internationalization'.repeat(100)
    expect(textOf(word)).toBe(textOf(word.slice(0, 1_024)) + textOf(word.slice(1_024)))
    expect(textOf(`a${pairs}b`)).toBe(textOf(`a${'😀'.repeat(511)}`) + textOf('😀b'))
    expect(textOf(`${pairs}b`)).toBe(textOf(pairs) + textOf('b'))
  })
})

describe('an estimate of messages', () => {
  it('adds 4 for each message', () => {
    expect(estimateTokens(user('Hello world'), raw)).toBe(6)
    expect(estimateTokens([user('Hello world'), assistant('Hello world')], raw)).toBe(12)
    expect(estimateTokens({ role: 'user', content: [] }, raw)).toBe(4)
  })

  it('adds 1,600 for an image or another medium, whatever its size', () => {
    const image = (data: string): Message => ({
      role: 'user',
      content: [{ type: 'file', mediaType: 'image/png', data }],
    })
    expect(estimateTokens(image(''), raw)).toBe(1_604)
    expect(estimateTokens(image('AAAA'.repeat(100_000)), raw)).toBe(1_604)
    const link = { type: 'file' as const, mediaType: 'application/pdf', url: 'https://example.com/a.pdf' }
    const result: Message = { role: 'tool', callId: 'call_1', name: 'scan', content: [link, link] }
    expect(estimateTokens(result, raw)).toBe(3_204)
  })

  it.each<[string, Record<string, unknown>, (data: string) => Record<string, unknown>]>([
    [
      'an image that the provider made',
      { type: 'image_generation_call', id: 'ig_1', result: '' },
      (result) => ({ type: 'image_generation_call', id: 'ig_1', result }),
    ],
    [
      'a document that the provider fetched',
      { content: { source: { type: 'base64', media_type: 'application/pdf', data: '' } } },
      (data) => ({ content: { source: { type: 'base64', media_type: 'application/pdf', data } } }),
    ],
    [
      'images of code that the provider ran',
      { outputs: [{ type: 'image', url: '' }] },
      (data) => ({ outputs: [{ type: 'image', url: `data:image/png;base64,${data}` }] }),
    ],
  ])('adds as much for %s, and its base64 is no text', (_, bare, withData) => {
    const own = (data: Record<string, unknown>): Message => ({
      role: 'assistant',
      content: [{ type: 'provider', provider: 'openai', data: data as never }],
    })
    const expected = estimateTokens(own(bare), raw) + 1_600
    for (const data of ['iVBORw0K', 'iVBORw0K'.repeat(100_000)]) {
      const message = own(withData(data))
      const tokens = estimateTokens(message, raw)
      expect(tokens).toBe(expected)
      expect(isAtLeast(message, { factor: 1, tokens })).toBe(true)
      expect(isAtLeast(message, { factor: 1, tokens: tokens + 1 })).toBe(false)
    }
  })

  it('counts names and compact JSON arguments of calls', () => {
    const parameters = { path: 'notes/today.md', content: 'A line that is long enough to weigh something.' }
    const name = textOf('write_file')
    expect(estimateTokens(calling('write_file', {}), raw)).toBe(4 + name + textOf('{}'))
    expect(estimateTokens(calling('write_file', parameters), raw)).toBe(4 + name + textOf(JSON.stringify(parameters)))
  })

  it('counts what a model wrote in place of arguments', () => {
    const written = '{"path": "notes/today.md", "content": "A line'
    expect(estimateTokens(calling('write_file', {}, written), raw)).toBe(4 + textOf('write_file') + textOf(written))
  })

  it('counts thinking and results as text', () => {
    const text = 'The answer has to be somewhere in these files.'
    const thinking: Message = { role: 'assistant', content: [{ type: 'thinking', provider: 'anthropic', text }] }
    const result: Message = { role: 'tool', callId: 'call_1', name: 'grep', content: [{ type: 'text', text }] }
    const notice: Message = { role: 'system', content: [{ type: 'text', text }] }
    for (const message of [thinking, result, notice]) expect(estimateTokens(message, raw)).toBe(4 + textOf(text))
  })

  it('counts a message that has changed since as it is now', () => {
    const content = [{ type: 'text' as const, text: 'Hello' }]
    const message: Message = { role: 'user', content }
    const before = estimateTokens(message, raw)
    content.push({ type: 'text', text: 'and a few words more' })
    expect(estimateTokens(message, raw)).toBeGreaterThan(before)
  })
})

/** Any text, halves of surrogate pairs and special tokens included. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('<|endoftext|>', '\ud800', '\ufeff', 'a'.repeat(3_000), '漢字'.repeat(99)),
)
const textBlock = fc.record({ type: fc.constant('text' as const), text })
const fileBlock = fc.record({ type: fc.constant('file' as const), mediaType: fc.constant('image/png'), data: text })
const thinkingBlock = fc.record({ type: fc.constant('thinking' as const), provider: fc.constant('openai'), text })
const callBlock = fc.record(
  {
    type: fc.constant('tool-call' as const),
    id: text,
    name: text,
    arguments: fc.dictionary(text, fc.oneof(text, fc.double({ noDefaultInfinity: true, noNaN: true }), fc.boolean()), {
      maxKeys: 3,
    }),
    malformed: text,
  },
  { requiredKeys: ['type', 'id', 'name', 'arguments'] },
)
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), content: fc.array(fc.oneof(textBlock, fileBlock)) }),
  fc.record({ role: fc.constant('system' as const), content: fc.array(textBlock) }),
  fc.record({
    role: fc.constant('assistant' as const),
    content: fc.array(fc.oneof(textBlock, thinkingBlock, callBlock)),
  }),
  fc.record({
    role: fc.constant('tool' as const),
    callId: text,
    name: text,
    content: fc.array(fc.oneof(textBlock, fileBlock)),
  }),
)
const messages = fc.array(message, { maxLength: 5 })
const factor = fc.double({ min: 0.5, max: 3, noNaN: true })

describe('an estimate of anything', () => {
  it('is a whole number, and no less than that of a part of it', () => {
    fc.assert(
      fc.property(messages, messages, factor, (some, more, factor) => {
        const part = estimateTokens(some, { factor })
        const whole = estimateTokens([...some, ...more], { factor })
        expect(Number.isSafeInteger(part)).toBe(true)
        expect(part).toBeGreaterThanOrEqual(some.length * 2)
        expect(whole).toBeGreaterThanOrEqual(part)
        expect(whole).toBeGreaterThanOrEqual(estimateTokens(more, { factor }))
      }),
    )
  })

  it('is not 0 for a text that is not empty, nor more than its bytes', () => {
    fc.assert(
      fc.property(
        text.filter((each) => each !== ''),
        (each) => {
          expect(textOf(each)).toBeGreaterThan(0)
          expect(textOf(each)).toBeLessThanOrEqual(Buffer.byteLength(each))
        },
      ),
    )
  })
})
