import { describe, expect, it } from 'vitest'
import { agoText, durationText, moneyText } from '../../../src/inspector/page/data/words.ts'

describe('a time that has passed', () => {
  it.each([
    [0, '0 ms'],
    [999.7, '999 ms'],
    [1_000, '1.0 s'],
    [59_990, '59.9 s'],
    [60_000, '1 min 0 s'],
    [119_900, '1 min 59 s'],
    [3_599_999, '59 min 59 s'],
    [3_600_000, '1 h 0 min'],
    [172_800_000, '2 d 0 h'],
  ])('of %d ms never has sixty of the smaller unit', (ms, text) => expect(durationText(ms)).toBe(text))

  it('says only its largest unit where it is long ago', () =>
    expect([0, 999, 1_000, 59_999, 60_000, 90_000_000].map(agoText)).toEqual([
      'now',
      'now',
      '1 s ago',
      '59 s ago',
      '1 min ago',
      '1 d ago',
    ]))
})

describe('an amount of money', () => {
  it.each([
    [undefined, '–'],
    [0, '$0'],
    [1, '$0.000000001'],
    [250, '$0.000000250'],
    [1_500, '$0.0000015'],
    [9_900_000, '$0.0099'],
    [12_345_678, '$0.012'],
    [12_345_678_901, '$12.35'],
  ])('of %s billionths is written without an exponent', (nanoUsd, text) => expect(moneyText(nanoUsd)).toBe(text))
})
