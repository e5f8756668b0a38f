import { describe, expect, it } from 'vitest'
import { emptyLedger, entered, newlySpent } from '../../../src/rules/money/ledger-entry.ts'
import { highestOf } from '../../../src/rules/tokens/token-counts.ts'

const call = { costNanoUsd: 5, model: 'a/x', usage: { input: 3, output: 2 } }

describe('an entry in a ledger', () => {
  it('counts under the model that was called, for the turn and for the life of its agent', () => {
    const once = entered(undefined, call)
    const twice = entered(once, {
      ...call,
      model: 'b/y',
      usage: { input: 1, cacheRead: 7, cacheWrite: 2, cacheWrite1h: 1 },
    })
    expect(twice).toEqual({
      models: {
        'a/x': { calls: 1, costNanoUsd: 5, input: 3, output: 2 },
        'b/y': { calls: 1, costNanoUsd: 5, input: 1, cacheRead: 7, cacheWrite: 2, cacheWrite1h: 1 },
      },
      sessionNanoUsd: 10,
      turnNanoUsd: 10,
    })
    expect(once.models['b/y'], 'the one before stays as it was').toBeUndefined()
  })

  it('that comes late counts for the life alone', () => {
    expect(entered(entered(undefined, call), { ...call, isLate: true })).toMatchObject({
      sessionNanoUsd: 10,
      turnNanoUsd: 5,
    })
  })

  it('without a price is counted, and has no cost', () => {
    const ledger = entered(undefined, { model: 'a/x', usage: { input: 3 } })
    expect(ledger).toEqual({
      models: { 'a/x': { calls: 1, input: 3, unpriced: 1 } },
      sessionNanoUsd: 0,
      turnNanoUsd: 0,
      turnUnknown: 1,
    })
    const mixed = { calls: 2, costNanoUsd: 5, costUnknown: 1, input: 6, output: 2, unpriced: 1 }
    expect(entered(ledger, call).models['a/x']).toEqual(mixed)
  })

  it('that is an estimate says so, call by call', () => {
    const ledger = entered(undefined, { ...call, isEstimated: true })
    expect(entered(ledger, call).models['a/x']).toMatchObject({ calls: 2, estimated: 1 })
  })

  it('of several calls counts each; of none it adds what they cost', () => {
    const ledger = entered(undefined, { ...call, calls: 3 })
    expect(ledger.models['a/x']?.calls).toBe(3)
    const more = entered(ledger, { calls: 0, costNanoUsd: 4, model: 'a/x', usage: {} })
    expect(more).toMatchObject({ models: { 'a/x': { calls: 3, costNanoUsd: 9 } }, sessionNanoUsd: 9 })
    expect(more.models['a/x']?.unpriced).toBeUndefined()
  })

  it('may be of a model with any name', () => {
    const names = ['__proto__', 'constructor', 'toString']
    for (const model of names) expect(Object.keys(entered(emptyLedger, { ...call, model }).models)).toEqual([model])
  })

  it('does not depend on the order of entries', () => {
    const calls = [1, 20, 300, 4_000].map((costNanoUsd) => ({ ...call, costNanoUsd }))
    const sum = (list: typeof calls) => list.reduce((ledger, each) => entered(ledger, each), emptyLedger)
    expect(sum(calls)).toEqual(sum(calls.toReversed()))
  })
})

describe('what is new in what a session tells', () => {
  const told = { calls: 2, costNanoUsd: 50, input: 10, output: 4, sessions: 1, delegatedTokens: 3 }

  it('is all of it at first, and what has come since after that', () => {
    expect(newlySpent(undefined, told)).toEqual({ calls: 2, costNanoUsd: 50, usage: { input: 10, output: 4 } })
    expect(newlySpent(told, { ...told, calls: 3, costNanoUsd: 70, input: 15 })).toEqual({
      calls: 1,
      costNanoUsd: 20,
      usage: { input: 5, output: 0 },
    })
  })

  it('is nothing when it is told again', () => {
    expect(newlySpent(told, told)).toBeUndefined()
    expect(newlySpent(undefined, { calls: 0, sessions: 0 })).toBeUndefined()
  })

  it('may be the cost of its own sessions alone', () => {
    expect(newlySpent(told, { ...told, costNanoUsd: 60 })).toMatchObject({ calls: 0, costNanoUsd: 10 })
  })

  it('is nothing where less is told than before, and what was told counts', () => {
    const less = { calls: 1, costNanoUsd: 20, input: 4, sessions: 0 }
    expect(newlySpent(told, less)).toBeUndefined()
    expect(highestOf(told, less)).toEqual(told)
    expect(newlySpent(highestOf(told, less), told)).toBeUndefined()
  })

  it('has no cost where none is known', () => {
    expect(newlySpent(undefined, { calls: 1, input: 2, sessions: 0 })).toEqual({ calls: 1, usage: { input: 2 } })
  })
})
