import { describe, expect, it } from 'vitest'
import { prunable } from '../../../src/rules/workspace/pruning.ts'
import { entry } from './entries.ts'

const gone = (...given: Parameters<typeof prunable>): number[] => prunable(...given).map(({ number }) => number)

describe('a workspace', () => {
  it('forgets what is older than 50 turns, unless it is pinned', () => {
    const entries = [entry(1), entry(2, { isPinned: true }), entry(3, { turn: 2 })]
    expect(gone(entries, 51)).toEqual([])
    expect(gone(entries, 52)).toEqual([1])
    expect(gone(entries, 53)).toEqual([1, 3])
  })

  it('forgets the largest until 5 MB are left, and never what is pinned', () => {
    const sizes = [2_000_000, 3_000_000, 1_000_000, 1_500_000]
    const entries = sizes.map((sizeBytes, at) => entry(at + 1, { sizeBytes, ...(at === 1 && { isPinned: true }) }))
    expect(gone(entries, 1)).toEqual([1, 4])
  })
})
