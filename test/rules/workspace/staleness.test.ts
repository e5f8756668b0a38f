import { describe, expect, it } from 'vitest'
import { newlyStale, outdatedBy } from '../../../src/rules/workspace/staleness.ts'
import { entry } from './entries.ts'

/** Numbers of the entries that become stale. */
function stale(entries: Parameters<typeof newlyStale>[0], compared = 0): number[] {
  return [...newlyStale(entries, compared)].map(({ number }) => number).toSorted((a, b) => a - b)
}

const a = { path: '/a', sizeBytes: 1, changedMs: 1 }

describe('a result', () => {
  it('is stale once its file is written, and so is all that was made from it, however deep', () => {
    const made = [
      entry(1, { handles: [1], files: [a] }),
      entry(2, { handles: [2], deps: [1] }),
      entry(3, { deps: [2] }),
      entry(4, { files: [{ path: '/b' }] }),
    ]
    expect(stale(made)).toEqual([])
    expect(stale([...made, entry(5, { changed: [a], files: [a] })], 4)).toEqual([1, 2, 3])
  })

  it('is stale once its file is found with another size or time', () => {
    const read = entry(1, { files: [a] })
    expect(stale([read, entry(2, { changed: [{ ...a, changedMs: 2 }] })])).toEqual([1])
    expect(stale([read, entry(2, { asked: 2, files: [{ ...a, sizeBytes: 2 }] })])).toEqual([1])
    // Another part of the same file.
    expect(stale([read, entry(2, { asked: 2, files: [a] })])).toEqual([])
    expect(stale([entry(1, { files: [{ path: '/a' }] }), entry(2, { files: [a] })])).toEqual([])
  })

  it('is stale once the same question has another answer', () => {
    const again = { key: 'bash:npm test', asked: 7 }
    expect(stale([entry(1, again), entry(2), entry(3, again)])).toEqual([1])
    expect(stale([entry(1, again), entry(2, { ...again, asked: 8 })])).toEqual([])
  })

  it('is stale if it was made from one that had become stale before', () => {
    expect(stale([entry(1, { handles: [1], isStale: true }), entry(2, { deps: [1] })], 1)).toEqual([2])
  })

  it('may depend on itself, or on what depends on it', () => {
    const circle = [
      entry(1, { handles: [1], deps: [3, 1], files: [a] }),
      entry(2, { handles: [2], deps: [1] }),
      entry(3, { handles: [3], deps: [2] }),
    ]
    expect(stale([...circle, entry(4, { changed: [a] })])).toEqual([1, 2, 3])
  })

  it('is compared with later ones only, and with each once', () => {
    const written = entry(1, { changed: [a], files: [a] })
    const read = entry(2, { asked: 2, files: [a] })
    expect(stale([written, read])).toEqual([])
    expect(stale([entry(1, { files: [a] }), entry(2, { changed: [a] })], 2)).toEqual([])
  })
})

describe('a change of files', () => {
  it('makes what is from them stale, and what was made from that', () => {
    const made = [
      entry(1, { handles: [1], files: [a] }),
      entry(2, { deps: [1] }),
      entry(3, { files: [{ ...a, path: '/b' }] }),
    ]
    const numbers = (changed: Parameters<typeof outdatedBy>[1]): number[] =>
      [...outdatedBy(made, changed)].map(({ number }) => number)
    expect(numbers([{ ...a, changedMs: 9 }])).toEqual([1, 2])
    expect(numbers([a])).toEqual([])
    expect(numbers([{ path: '/a' }])).toEqual([])
  })
})
