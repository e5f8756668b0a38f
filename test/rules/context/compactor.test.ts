import { describe, expect, it } from 'vitest'
import {
  type CompactionView,
  losesMore,
  standardCheckpointer,
  standardCompactor,
} from '../../../src/rules/context/compactor.ts'

const view = (fullness: number | undefined, changes: Partial<CompactionView> = {}): CompactionView => ({
  fullness,
  midTurn: 0.95,
  model: 'a/b',
  moment: 'turn-end',
  threshold: { value: 0.85, source: 'default' },
  ...changes,
})

describe('the standard compactor', () => {
  it.each([
    ['at the threshold', view(0.85), true],
    ['below it', view(0.849), false],
    ['in the midst of a turn at what interrupts it', view(0.95, { moment: 'mid-turn' }), true],
    ['in the midst of a turn below that', view(0.949, { moment: 'mid-turn' }), false],
    [
      'in the midst of a turn below a higher threshold',
      view(0.96, { moment: 'mid-turn', threshold: { value: 0.97, source: 'threshold' } }),
      false,
    ],
    ['in the midst of a turn that nothing interrupts', view(1, { midTurn: null, moment: 'mid-turn' }), false],
    ['after a compaction, at the threshold', view(0.85, { moment: 'next-call' }), true],
    ['if it is needed, at the threshold', view(0.85, { moment: 'asked' }), true],
    ['of what is not known', view(undefined), false],
  ])('says whether it is due %s', (_, given, due) => {
    expect(standardCompactor.should(given)).toBe(due)
  })
})

describe('the standard checkpointer', () => {
  it('wants a record whenever it was said that the task is done', () => {
    expect(standardCheckpointer.should({ isPending: true, messages: 1 })).toBe(true)
    expect(standardCheckpointer.should({ isPending: false, messages: 1_000 })).toBe(false)
  })
})

describe('a cache that is weighed', () => {
  // A token read from the cache costs 1, and 12 when it is written.
  const facts = {
    cachePrice: { readNanoUsd: 100_000, writeNanoUsd: 1_200_000 },
    cachedTokens: 90_000,
    leftTokens: 10_000,
    promptTokens: 100_000,
  }

  it.each([
    ['ten steps, which save less than it loses', { steps: 10 }, true],
    ['eleven, which save as much', { steps: 11 }, false],
    ['no step', { steps: 0 }, true],
    ['nothing in the cache', { steps: 0, cachedTokens: 0 }, false],
    ['a cache of which nobody says anything', { steps: 0, cachedTokens: undefined }, false],
    ['prices that are not known', { steps: 0, cachePrice: undefined }, false],
    ['what is left being as long as what was there', { steps: 1_000, leftTokens: 200_000 }, true],
  ])('loses more with %s: %j', (_, changes, loses) => {
    expect(losesMore({ ...facts, ...changes })).toBe(loses)
  })
})
