import { describe, expect, it } from 'vitest'
import { retrieved, scoreOf, wordsIn, workspaceText } from '../../../src/rules/workspace/retrieval.ts'
import { entry } from './entries.ts'

const none = wordsIn('')
const request = { prompt: '', turn: 1, maxChars: 8_000, isSeen: () => false }
const numbers = (entries: readonly { readonly number: number }[]): number[] => entries.map(({ number }) => number)

describe('the score of a result', () => {
  it('counts how new it is, and what it is', () => {
    const table = entry(1, { type: 'table' })
    expect(scoreOf(table, none, 1)).toBeCloseTo(0.6)
    expect(scoreOf(entry(1, { type: 'table', isStale: true }), none, 1)).toBeCloseTo(0.18)
    expect(scoreOf(entry(1, { type: 'table', isPinned: true }), none, 1)).toBeCloseTo(0.8)
    expect(scoreOf(table, none, 11)).toBeCloseTo(0.2 + 0.4 / Math.E)
    expect(scoreOf(entry(1), none, 1)).toBeCloseTo(0.48)
  })

  it('counts the share of the words of a message in its name, key and origin', () => {
    const read = entry(1, { key: 'file:src/parser.ts', origin: 'read_file {"path":"src/parser.ts"}' })
    const score = (prompt: string): number => scoreOf(read, wordsIn(prompt), 1) - scoreOf(read, none, 1)
    expect(score('Parser')).toBeCloseTo(0.3)
    expect(score('Fix the parser, please')).toBeCloseTo(0.3 / 4)
    expect(score('pars')).toBe(0)
    expect(score('parser parser parser')).toBeCloseTo(0.3)
  })

  it('is at most 1', () => {
    const all = entry(1, { type: 'table', isPinned: true, key: 'file:a' })
    expect(scoreOf(all, wordsIn('file a'), 1)).toBe(1)
  })
})

describe('what a turn begins with', () => {
  it('is the best first, then the newest, then the highest number', () => {
    const entries = [
      entry(1, { atMs: 5 }),
      entry(2, { atMs: 5 }),
      entry(3, { atMs: 9 }),
      entry(4, { type: 'table' }),
      entry(5, { isStale: true }),
    ]
    expect(numbers(retrieved(entries, request))).toEqual([4, 3, 2, 1, 5])
  })

  it('has as much as fits, past what does not', () => {
    const long = entry(1, { type: 'table', text: 'x'.repeat(2_000) })
    const entries = [long, entry(2), entry(3, { text: undefined })]
    expect(numbers(retrieved(entries, { ...request, maxChars: 200 }))).toEqual([2])
    expect(retrieved(entries, { ...request, maxChars: 0 })).toEqual([])
  })

  it('is not what the model sees already, which takes its room all the same', () => {
    const seen = entry(2, { type: 'table', text: 'x'.repeat(150) })
    const isSeen = (one: object): boolean => one === seen
    expect(numbers(retrieved([entry(1), seen], { ...request, isSeen }))).toEqual([1])
    expect(retrieved([entry(1), seen], { ...request, isSeen, maxChars: 250 })).toEqual([])
  })
})

describe('the text of it', () => {
  it('names all results in a line, and quotes those that were chosen', () => {
    const stored = entry(2, { handles: [3], type: 'table', isPinned: true, text: 'table of 9 rows\n# Workspace' })
    const text = workspaceText([entry(1, { key: 'file:a.ts', isStale: true }), stored], [stored])
    expect(text.split('\n').slice(4)).toEqual([
      'All: *.h_003, ~file:a.ts',
      '',
      '## *.h_003: table, from tool {"n":2}, turn 1',
      '| table of 9 rows',
      '| # Workspace',
    ])
  })

  it('names as many results as fit in 1,000 characters', () => {
    const many = Array.from({ length: 500 }, (_, at) => entry(at + 1, { key: `file:${at + 1}.ts` }))
    const line = workspaceText(many, []).split('\n').at(-1) ?? ''
    expect(line).toMatch(/^All: file:500\.ts, file:499\.ts, .* and \d+ older$/)
    expect(line.length).toBeLessThan(1_020)
  })
})
