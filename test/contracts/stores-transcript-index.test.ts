import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { TranscriptIndex } from '../../src/stores/transcript-index.ts'

const there = { lines: 0, bytes: 0 }
const line = (at: number, searchable: string) => ({ line: at, startByte: at * 10, sizeBytes: 9, searchable })

function lines(index: TranscriptIndex, word: string): number[] {
  return index.search(['a', 'b'], [word], 10).map((found) => found.line)
}

describe('an index where SQLite has no full-text search', () => {
  it('takes lines, refuses to search them, and finds them once it has', () => {
    const db = new DatabaseSync(':memory:')
    const before = new TranscriptIndex(db, 'here', { hasFullText: false })
    before.announce('a', there, [line(0, 'oak'), line(1, 'elm'), line(2, 'ash')])
    before.announce('b', there, [line(0, 'elm')])
    before.announce('a', { lines: 2, bytes: 20 }, [line(2, 'fir')])
    before.remove('b')
    expect(before.reach('a')).toEqual({ lines: 2, bytes: 20 })
    expect(() => before.search(['a'], ['oak'], 10)).toThrow(
      expect.objectContaining({ code: 'store-failed', message: expect.stringContaining('Use Node 22.16 or newer') }),
    )
    const after = new TranscriptIndex(db, 'here', { hasFullText: true })
    expect(lines(after, 'elm')).toEqual([1])
    expect(lines(after, 'ash')).toEqual([])
    expect(lines(after, 'fir')).toEqual([2])
    expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'waiting_words'").all()).toEqual([])
  })

  it('goes on with lines of a database that has been searched elsewhere', () => {
    const db = new DatabaseSync(':memory:')
    new TranscriptIndex(db, 'here', { hasFullText: true }).announce('a', there, [line(0, 'oak'), line(1, 'elm')])
    const without = new TranscriptIndex(db, 'here', { hasFullText: false })
    without.announce('a', { lines: 1, bytes: 10 }, [line(1, 'fir'), line(2, 'yew')])
    const after = new TranscriptIndex(db, 'here', { hasFullText: true })
    expect([lines(after, 'oak'), lines(after, 'fir'), lines(after, 'yew'), lines(after, 'elm')]).toEqual([
      [0],
      [1],
      [2],
      [],
    ])
  })
})
