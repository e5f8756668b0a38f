import { describe, expect, it } from 'vitest'
import { boundsPassed, ceilingMessage, ceilingReached, leftUnder } from '../../../src/rules/money/ceiling-decision.ts'
import { assumedOutputTokens, dearestCost } from '../../../src/rules/money/reservation.ts'
import { formatUsd, toNanoUsd, toUsd } from '../../../src/rules/money/usd.ts'

const onUnpriced = 'warn' as const
const both = { maxTurnCostUsd: 0.1, maxSessionCostUsd: 0.1, onUnpriced }
const spent = (turnUsd: number, sessionUsd = turnUsd) => ({
  turnNanoUsd: toNanoUsd(turnUsd),
  sessionNanoUsd: toNanoUsd(sessionUsd),
})

describe('a ceiling', () => {
  it('is reached by what equals it, and not by a billionth less', () => {
    expect(ceilingReached(both, spent(0.1))?.bound).toBe('turn')
    expect(ceilingReached(both, { turnNanoUsd: 99_999_999, sessionNanoUsd: 99_999_999 })).toBeUndefined()
  })

  it('of the turn is named where that of the session is reached as well', () => {
    expect(ceilingReached(both, spent(0.15))).toEqual({ bound: 'turn', limitUsd: 0.1, spentUsd: 0.15 })
    expect(ceilingReached(both, spent(0.05, 0.15))?.bound).toBe('session')
  })

  it('of a turn bounds nothing while no turn is open', () => {
    expect(ceilingReached({ maxTurnCostUsd: 0.1, onUnpriced }, { sessionNanoUsd: toNanoUsd(9) })).toBeUndefined()
  })

  it('of less than is counted is reached by the least that is spent, and not before', () => {
    const least = { maxSessionCostUsd: 1e-12, onUnpriced }
    expect(ceilingReached(least, { sessionNanoUsd: 0 })).toBeUndefined()
    expect(ceilingReached(least, { sessionNanoUsd: 1 })?.bound).toBe('session')
  })

  it('of more than anybody has is a whole number all the same, and so is half of it', () => {
    const left = leftUnder({ maxSessionCostUsd: 1e300, onUnpriced }, spent(1), 0)
    expect(left).toBe(4_000_000 * 1e9 - 1e9)
    expect(Number.isSafeInteger(2 * toNanoUsd(Number.MAX_VALUE))).toBe(true)
  })

  it('that is not set is never reached', () => {
    expect(ceilingReached({ onUnpriced }, spent(1_000))).toBeUndefined()
    expect(leftUnder({ onUnpriced }, spent(1_000), 5)).toBeUndefined()
  })

  it.each([
    [0.07, 7],
    [0.05, 5],
    [0.29, 29],
    [1.1, 110],
  ])('of $%d takes as many cents as that is', (limitUsd, cents) => {
    const ceilings = { maxTurnCostUsd: limitUsd, onUnpriced }
    const cent = toNanoUsd(0.01)
    const reaches = (count: number) => ceilingReached(ceilings, { turnNanoUsd: count * cent, sessionNanoUsd: 0 })
    expect([reaches(cents - 1), reaches(cents)?.bound]).toEqual([undefined, 'turn'])
  })

  it('leaves what is neither spent nor held, by the tighter bound, and never less than nothing', () => {
    const ceilings = { maxTurnCostUsd: 1, maxSessionCostUsd: 5, onUnpriced }
    expect(leftUnder(ceilings, spent(0.25, 3), toNanoUsd(0.5))).toBe(toNanoUsd(0.25))
    expect(leftUnder(ceilings, spent(0.25, 4.4), toNanoUsd(0.5))).toBe(toNanoUsd(0.1))
    expect(leftUnder(ceilings, spent(2, 3), 0)).toBe(0)
    expect(leftUnder(ceilings, { sessionNanoUsd: toNanoUsd(3) }, 0), 'between turns').toBe(toNanoUsd(2))
  })

  it('may be passed by what is held; to reach it exactly is not to pass it', () => {
    const ceilings = { maxTurnCostUsd: 1, maxSessionCostUsd: 5, onUnpriced }
    expect(boundsPassed(ceilings, spent(0.5, 4.5), toNanoUsd(0.5))).toEqual([])
    expect(boundsPassed(ceilings, spent(0.5, 1), toNanoUsd(0.6)).map(({ bound }) => bound)).toEqual(['turn'])
    expect(boundsPassed(ceilings, spent(0.5, 4.5), toNanoUsd(0.6)).map(({ bound }) => bound)).toEqual([
      'turn',
      'session',
    ])
  })

  it('says with four decimals what was spent of what', () => {
    const said = ceilingMessage({ bound: 'turn', limitUsd: 0.1, spentUsd: 0.15 })
    expect(said).toBe('cost ceiling: this turn has spent $0.1500 of $0.1000.')
    expect(ceilingMessage({ bound: 'session', limitUsd: 10, spentUsd: 12 })).toContain(
      'this session has spent $12.0000',
    )
  })
})

describe('an amount of money', () => {
  it.each([
    [0, 4, '$0.0000'],
    [toNanoUsd(0.15), 4, '$0.1500'],
    [toNanoUsd(12), 2, '$12.00'],
    [49_999, 4, '$0.0000'],
    [50_000, 4, '$0.0001'],
    [1_005_000_000, 2, '$1.01'],
    [1_499_999_999, 0, '$1'],
    [Number.MAX_SAFE_INTEGER, 4, '$9007199.2547'],
  ])('of %d billionths reads with %d decimals as %s', (nano, decimals, text) => {
    expect(formatUsd(nano, decimals)).toBe(text)
  })

  it('is the same in billionths and back', () => {
    for (const usd of [0.07, 0.1, 1.15, 123.456789]) expect(toUsd(toNanoUsd(usd))).toBe(usd)
  })
})

describe('the most that a call may cost', () => {
  const rates = {
    isPriced: true,
    inputNanoUsdPerMillion: toNanoUsd(3),
    outputNanoUsdPerMillion: toNanoUsd(15),
  } as const

  it('is that of its prompt and of all that it may write, rounded up', () => {
    expect(dearestCost(rates, { input: 1_000, output: 100 })).toBe(4_500_000)
    expect(dearestCost({ ...rates, inputNanoUsdPerMillion: 1 }, { input: 1, output: 0 })).toBe(1)
  })

  it('is not known of a model without a price', () => {
    expect(dearestCost({ isPriced: false }, { input: 1, output: 1 })).toBeUndefined()
    expect(dearestCost(undefined, { input: 1, output: 1 })).toBeUndefined()
  })

  it('has an output limit where nobody sets one', () => {
    expect(assumedOutputTokens).toBe(32_000)
  })
})
