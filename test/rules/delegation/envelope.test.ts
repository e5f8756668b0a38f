import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { envelopeInstruction, parseEnvelope } from '../../../src/rules/delegation/envelope.ts'

function envelope(summary: string, result: string, blanks: readonly string[] = []): string {
  const [a = '', b = '', c = '', d = '', e = ''] = blanks
  const parts = [`<summary>${summary}</summary>`, `<full_result>${result}</full_result>`]
  return `${a}<subagent_background_result>${b}${parts[0]}${c}${parts[1]}${d}</subagent_background_result>${e}`
}

const wrapped =
  '<subagent_background_result><summary>S</summary><full_result>R</full_result></subagent_background_result>'

describe('an envelope', () => {
  it('gives the summary and the full result, both trimmed', () => {
    expect(parseEnvelope(wrapped)).toEqual({ summary: 'S', result: 'R' })
    expect(parseEnvelope(envelope('\n  S s\n', '\n\nR\n r\t'))).toEqual({ summary: 'S s', result: 'R\n r' })
  })

  it('gives back what was put in, with any blanks around it and between its tags', () => {
    const blank = fc.string({ unit: fc.constantFrom(' ', '\n', '\r\n', '\t') })
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom('<summary>', '<full_result>', '</full_result>', wrapped, '</subagent_background_result>'),
    )
    const text = fc.array(piece).map((pieces) => pieces.join(''))
    const summaries = text.filter((summary) => !summary.includes('</summary>'))
    const results = text.filter((result) => result.trim() !== '')
    const blanks = fc.array(blank, { minLength: 5, maxLength: 5 })
    fc.assert(
      fc.property(summaries, results, blanks, (summary, result, around) => {
        const trimmed = summary.trim()
        expect(parseEnvelope(envelope(summary, result, around))).toEqual({
          summary: trimmed === '' ? undefined : trimmed,
          result: result.trim(),
        })
      }),
    )
  })

  it('ends its summary at the first tag and its result at the last', () => {
    expect(parseEnvelope(envelope('S', 'a</full_result>b'))).toEqual({ summary: 'S', result: 'a</full_result>b' })
    const twice = envelope('S</summary>T', 'R')
    expect(parseEnvelope(twice)).toEqual({ summary: undefined, result: twice })
  })

  it('has no summary if that is empty or over 8192 bytes', () => {
    expect(parseEnvelope(envelope('', 'R'))).toEqual({ summary: undefined, result: 'R' })
    expect(parseEnvelope(envelope(' \n ', 'R'))).toEqual({ summary: undefined, result: 'R' })
    const summary = 'ä'.repeat(4096)
    expect(parseEnvelope(envelope(` ${summary} `, 'R'))).toEqual({ summary, result: 'R' })
    expect(parseEnvelope(envelope(`${summary}a`, 'R'))).toEqual({ summary: undefined, result: 'R' })
    expect(parseEnvelope(envelope('a'.repeat(8193), 'R'))).toEqual({ summary: undefined, result: 'R' })
  })

  it.each([
    ['a plain text', ' Done. '],
    ['nothing', ''],
    ['text before it', `Here: ${wrapped}`],
    ['text behind it', `${wrapped} Bye`],
    ['a second one behind it', `${wrapped}${wrapped.replace('<summary>', '<summary >')}x`],
    ['text between the outer tag and the summary', wrapped.replace('<summary>', 'x<summary>')],
    ['text between the parts', wrapped.replace('<full_result>', 'x<full_result>')],
    ['text behind the result', wrapped.replace('</full_result>', '</full_result>x')],
    ['a fence around it', `\`\`\`\n${wrapped}\n\`\`\``],
    ['no outer tag', '<summary>S</summary><full_result>R</full_result>'],
    ['no end', wrapped.replace('</subagent_background_result>', '')],
    ['no summary', wrapped.replace('<summary>S</summary>', '')],
    ['a summary without an end', wrapped.replace('</summary>', '')],
    ['no full result', wrapped.replace('<full_result>R</full_result>', '')],
    ['a full result without a beginning', wrapped.replace('<full_result>', '')],
    ['a full result without an end', wrapped.replace('</full_result>', '')],
    ['an empty full result', envelope('S', ' \n')],
    [
      'the parts in another order',
      '<subagent_background_result><full_result>R</full_result><summary>S</summary></subagent_background_result>',
    ],
    ['capitals', wrapped.toUpperCase()],
    ['an attribute', wrapped.replace('<summary>', '<summary a="b">')],
    ['tags that overlap', '<subagent_background_result></subagent_background_result>'],
    [
      'tags that share their text',
      '<subagent_background_result><summary></summary><full_result></subagent_background_result>',
    ],
  ])('is not one with %s: the whole text is the result', (_, text) => {
    expect(parseEnvelope(text)).toEqual({ summary: undefined, result: text })
  })

  it.each([
    ['tags that open', '<subagent_background_result><summary>'],
    ['tags that close', '</summary></full_result></subagent_background_result>'],
    ['blanks', ' \n'],
  ])('is told from 10 MB of %s before the test times out', (_, piece) => {
    const long = piece.repeat(Math.ceil(10_000_000 / piece.length))
    for (const text of [long, `<subagent_background_result>${long}`, `${long}</subagent_background_result>`]) {
      expect(parseEnvelope(text).summary).toBeUndefined()
    }
    expect(parseEnvelope(envelope('S', `R${long}R`)).summary).toBe('S')
  })
})

describe('what a session in the background is told', () => {
  it('shows the tags, in a form that is itself an envelope', () => {
    const form = envelopeInstruction.slice(envelopeInstruction.indexOf('<subagent_background_result>'))
    expect(parseEnvelope(form)).toEqual({ summary: expect.any(String), result: expect.any(String) })
    expect(parseEnvelope(form).result).not.toBe(form)
  })
})
