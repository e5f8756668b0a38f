import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LogView } from '../../src/world/log-view.ts'

describe('a view of a log', () => {
  it('stays as it was made when the log grows', () => {
    const log = ['a', 'b']
    const view = LogView.of(log)
    const longer = view.concat(log)
    log.push('c')
    expect([...view]).toEqual(['a', 'b'])
    expect([...longer]).toEqual(['a', 'b', 'a', 'b'])
    expect([view.length, longer.length, view.at(2)]).toEqual([2, 4, undefined])
  })

  it('keeps within its log, whatever window is asked for', () => {
    expect([...LogView.of([1, 2, 3], -5, 99)]).toEqual([1, 2, 3])
    expect([...LogView.of([1, 2, 3], 1, 2)]).toEqual([2])
    const none = LogView.of([1, 2, 3], 3, 1)
    expect([none.length, [...none], none.at(0), none.at(-1)]).toEqual([0, [], undefined, undefined])
    expect([...none.concat([4])]).toEqual([4])
  })

  it('reads like the array that it stands for', () => {
    const part = fc.record({ items: fc.array(fc.nat(9)), from: fc.nat(6), to: fc.nat(12) })
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 4 }),
        fc.integer({ min: -15, max: 15 }),
        fc.integer({ min: -15, max: 15 }),
        (parts, start, end) => {
          const array = parts.flatMap(({ items, from, to }) => items.slice(from, to))
          let view = LogView.of<number>([])
          for (const { items, from, to } of parts) view = view.concat(LogView.of(items, from, to))
          const isOdd = (item: number): boolean => item % 2 === 1
          expect(view.length).toBe(array.length)
          expect([...view]).toEqual(array)
          expect(view.at(start)).toBe(array.at(start))
          expect(view.slice(start, end)).toEqual(array.slice(start, end))
          expect([view.slice(start), view.slice()]).toEqual([array.slice(start), array])
          expect(view.filter(isOdd)).toEqual(array.filter(isOdd))
          expect(view.filter((_, index) => index > 1)).toEqual(array.slice(2))
          expect(view.map((item, index) => item + index)).toEqual(array.map((item, index) => item + index))
          expect(view.some(isOdd)).toBe(array.some(isOdd))
          expect(view.some((_, index) => index === array.length - 1)).toBe(array.length > 0)
          expect(view.findLast(isOdd)).toBe(array.findLast(isOdd))
          expect(view.findLastIndex(isOdd)).toBe(array.findLastIndex(isOdd))
          expect(view.find(isOdd)).toBe(array.find(isOdd))
          expect(view.find((_, index) => index === 1)).toBe(array[1])
          expect([view[0], view[array.length], view[start]]).toEqual([array[0], undefined, array[start]])
          const sum = (total: number, item: number, index: number): number => total + item * index
          expect(view.reduce(sum, 3)).toBe(array.reduce(sum, 3))
          expect(view.concat([1]).reduce(sum)).toBe([...array, 1].reduce(sum))
          expect(JSON.stringify({ view })).toBe(JSON.stringify({ view: array }))
        },
      ),
    )
  })

  it('cannot be written to by a cast', () => {
    const log = ['a', 'b']
    const view = LogView.of(log) as unknown as string[]
    expect(() => (view[0] = 'c')).toThrow(TypeError)
    expect(() => (view.length = 0)).toThrow(TypeError)
    expect(() => Object.defineProperty(view, 0, { value: 'c' })).toThrow(TypeError)
    expect([view[0], view.length, log]).toEqual(['a', 2, ['a', 'b']])
  })
})
