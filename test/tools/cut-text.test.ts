import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutMiddle, cutStart, cutText } from '../../src/base/cut-text.ts'

const texts = fc.string({ unit: fc.constantFrom('a', '👋', '日'), maxLength: 40 })
const lengths = fc.integer({ min: 0, max: 50 })

describe('a text that is cut', () => {
  it('is never left with half a character, and never longer than it may be', () => {
    fc.assert(
      fc.property(texts, lengths, (text, maxChars) => {
        const [start, end] = [cutText(text, maxChars), cutStart(text, maxChars)]
        expect([start, end].every((cut) => cut.isWellFormed() && cut.length <= maxChars)).toBe(true)
        expect([text.startsWith(start), text.endsWith(end)]).toEqual([true, true])
        // A character that does not fit whole is all that is lost beyond the limit.
        expect(Math.min(start.length, end.length)).toBeGreaterThanOrEqual(Math.min(text.length, maxChars) - 1)
      }),
    )
  })

  it('stays as it is where it is short enough', () => {
    expect([cutText('👋👋', 4, '...'), cutStart('👋👋', 4), cutMiddle('👋👋', 4)]).toEqual(Array(3).fill('👋👋'))
  })

  it('ends in a mark that counts as part of it', () => {
    expect(cutText('abcdef', 5, '...')).toBe('ab...')
    expect(cutText('a👋👋👋', 5, '...')).toBe('a...')
  })

  it('keeps both its ends where its middle is left out, and says how much is gone', () => {
    expect(cutMiddle('a👋bcde👋f', 6)).toBe('a👋[... 4 characters left out ...]👋f')
    expect(cutMiddle('ab👋cdef👋gh', 6)).toBe('ab[... 8 characters left out ...]gh')
  })
})
