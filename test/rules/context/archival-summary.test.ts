import { user } from 'entia'
import { describe, expect, it } from 'vitest'
import {
  holderTask,
  parseSummary,
  styleFor,
  summaryModel,
  taskLine,
} from '../../../src/rules/context/archival-summary.ts'

const keys = { outcome: 'Done.', key_findings: ['a'], files_touched: [], tools_used: ['look'], open_questions: [] }

describe('the task of a holder', () => {
  it.each([
    ['first\nsecond', 'Archive: first'],
    ['  first  \r\nsecond', 'Archive: first'],
    ['   ', 'Archive: (no prompt)'],
    ['x'.repeat(80), `Archive: ${'x'.repeat(80)}`],
    ['x'.repeat(200), `Archive: ${'x'.repeat(77)}...`],
  ])('for %j is the first line', (prompt, task) => {
    expect(holderTask(user(prompt))).toBe(task)
  })

  it('is not cut through a character', () => {
    const line = taskLine(`${'x'.repeat(76)}😀${'y'.repeat(9)}`)
    expect(line).toBe(`${'x'.repeat(76)}...`)
    expect(line.isWellFormed()).toBe(true)
  })

  it('says so where nothing was said', () => {
    expect(holderTask(undefined)).toBe('Archive: (no prompt)')
    const picture = { role: 'user' as const, content: [{ type: 'file' as const, mediaType: 'image/png', data: '' }] }
    expect(holderTask(picture)).toBe('Archive: (no prompt)')
  })
})

describe('a structured summary', () => {
  it('is the five keys in order, compact, without its fence and other keys', () => {
    const { open_questions, ...rest } = keys
    const reply = ['```json', JSON.stringify({ open_questions, more: 1, ...rest }, null, 2), '```', ''].join('\n')
    expect(parseSummary('structured', reply)).toEqual({ text: JSON.stringify(keys) })
  })

  it.each([
    ['a text', 'Done.', 'it is no JSON.'],
    ['nothing', ' \n', 'it is empty.'],
    ['an empty outcome', JSON.stringify({ ...keys, outcome: ' ' }), 'outcome: expected a text that is not empty.'],
    ['a list', '[]', /expected object/],
    ['a text instead of a list', JSON.stringify({ ...keys, key_findings: 'a' }), /^key_findings: /],
    ['a key less', JSON.stringify({ outcome: 'Done.' }), /^key_findings: /],
  ])('is not %s', (_, reply, problem) => {
    expect(parseSummary('structured', reply).problem).toMatch(problem)
  })
})

describe('a paragraph', () => {
  it('is any text, trimmed', () => {
    expect(parseSummary('paragraph', ' It was\ndone. \n')).toEqual({ text: 'It was\ndone.' })
    expect(parseSummary('paragraph', ' \n').problem).toBe('it is empty.')
  })

  it('is what Ollama is asked for', () => {
    expect(styleFor('structured', 'ollama/qwen3')).toBe('paragraph')
    expect(styleFor('structured', 'openai/ollama')).toBe('structured')
    expect(styleFor('paragraph', 'openai/x')).toBe('paragraph')
  })
})

describe('the model of a summary', () => {
  it('is the agent’s own, another one of its provider, or any', () => {
    expect(summaryModel(null, 'scripted/x')).toBe('scripted/x')
    expect(summaryModel('small', 'scripted/x')).toBe('scripted/small')
    expect(summaryModel('other/y', 'scripted/x')).toBe('other/y')
  })
})
