import type { SessionUsage } from '../../../src/protocol/usage.ts'
import { growthOf } from '../../../src/rules/tokens/token-counts.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DelegatedData } from '../../../components/sessions/delegation-limits.ts'
import type { DelegationLimitsData } from '../../../src/protocol/delegation.ts'
import { toNanoUsd, toUsd } from '../../../src/rules/money/usd.ts'
import {
  type Allowance,
  exhausted,
  grantOf,
  leftOf,
  nothingDelegated,
  spentBy,
  tokensOf,
  type Wanted,
} from '../../../src/rules/delegation/grants.ts'

const oneCent = 10_000_000

describe('what an agent may still delegate', () => {
  it('is 200 sessions and anything else without limit where nothing is said', () => {
    expect(leftOf(undefined, nothingDelegated)).toEqual({ sessions: 200 })
    expect(leftOf({}, nothingDelegated)).toEqual({ sessions: 200 })
  })

  it('is less by what was launched, is reserved, and was spent', () => {
    const delegated = {
      ...nothingDelegated,
      launched: 3,
      reservedSessions: 4,
      spentSessions: 5,
      reservedTokens: 30,
      spentTokens: 20,
      reservedCostNanoUsd: oneCent,
      spentCostNanoUsd: 2 * oneCent,
    }
    const limits = { sessions: 20, tokens: 100, costUsd: 0.05 }
    expect(leftOf(limits, delegated)).toEqual({ sessions: 8, tokens: 50, costNanoUsd: 2 * oneCent })
  })

  it('is less by what the agent has used itself, where that counts', () => {
    const own = { tokens: 40, costNanoUsd: oneCent }
    const limits = { tokens: 100, costUsd: 0.05 }
    expect(leftOf(limits, nothingDelegated, own)).toMatchObject({ tokens: 60, costNanoUsd: 4 * oneCent })
  })

  it('is nothing, and not less, where more was spent than was granted', () => {
    const delegated = { ...nothingDelegated, launched: 9, spentTokens: 900, spentCostNanoUsd: 900 * oneCent }
    const left = leftOf({ sessions: 1, tokens: 10, costUsd: 0.01 }, delegated)
    expect(left).toEqual({ sessions: 0, tokens: 0, costNanoUsd: 0 })
  })
})

describe('what a session may delegate that goes on with another one', () => {
  it('is not less by what that one had launched', () => {
    const delegated = { ...nothingDelegated, launched: 5, launchedBefore: 3 }
    expect(leftOf({ sessions: 4 }, delegated)).toEqual({ sessions: 2 })
  })
})

describe('a launch', () => {
  it.each([
    ['depth', { sessions: 1, tokens: 1, costNanoUsd: 1 }, 0],
    ['sessions', { sessions: 0, tokens: 1, costNanoUsd: 1 }, 1],
    ['tokens', { sessions: 1, tokens: 0, costNanoUsd: 1 }, 1],
    ['cost', { sessions: 1, tokens: 1, costNanoUsd: 0 }, 1],
    [undefined, { sessions: 1, tokens: 1, costNanoUsd: 1 }, 1],
    [undefined, { sessions: 1 }, 1],
  ])('is kept back by %s', (expected, left, depth) => {
    expect(exhausted(left, depth)).toBe(expected)
  })
})

describe('a grant', () => {
  const left = { sessions: 10, tokens: 103, costNanoUsd: 8 * oneCent }

  it('is a quarter of what is left, rounded down', () => {
    expect(grantOf(left, undefined, true)).toEqual({ sessions: 2, tokens: 25, costNanoUsd: 2 * oneCent })
    expect(grantOf({ sessions: 3, tokens: 3 }, undefined, true)).toEqual({ sessions: 0, tokens: 0 })
  })

  it('is what a config names, of each kind by itself', () => {
    expect(grantOf(left, { tokens: 103 }, true)).toEqual({ sessions: 2, tokens: 103, costNanoUsd: 2 * oneCent })
    expect(grantOf(left, { sessions: 10, costUsd: 0.01 }, true)).toEqual({
      sessions: 10,
      tokens: 25,
      costNanoUsd: oneCent,
    })
  })

  it('holds no sessions for one that cannot delegate, whatever its config names', () => {
    expect(grantOf(left, undefined, false)).toMatchObject({ sessions: 0 })
    expect(grantOf(left, { sessions: 99 }, false)).toMatchObject({ sessions: 0 })
  })

  it('is what a config names where nothing limits the parent, and else without limit', () => {
    expect(grantOf({ sessions: 8 }, { tokens: 500 }, true)).toEqual({ sessions: 2, tokens: 500 })
    expect(grantOf({ sessions: 8 }, undefined, true)).toEqual({ sessions: 2 })
  })

  it.each([
    ['sessions', left, { sessions: 11 }],
    ['tokens', left, { tokens: 104 }],
    ['cost', left, { costUsd: 0.0801 }],
    ['tokens', { ...left, tokens: 0 }, undefined],
    ['cost', { ...left, costNanoUsd: 0 }, undefined],
    ['tokens', { ...left, tokens: 0 }, { tokens: 0 }],
  ])('is not made where there is too little of %s', (expected, has, wanted) => {
    expect(grantOf(has, wanted, true)).toBe(expected)
  })

  it('is made where a session limit is just used up: the launch has had its one', () => {
    expect(grantOf({ sessions: 0 }, undefined, true)).toEqual({ sessions: 0 })
  })
})

describe('a use', () => {
  it('is all its tokens, those of its own sessions too, and the sessions it launched', () => {
    const usage = { calls: 3, input: 1, cacheRead: 20, cacheWrite: 300, output: 4_000, sessions: 2 }
    expect(tokensOf(usage)).toBe(4_321)
    const spent = { tokens: 54_321, costNanoUsd: 7, sessions: 2 }
    expect(spentBy({ ...usage, delegatedTokens: 50_000, costNanoUsd: 7 })).toEqual(spent)
    expect(spentBy({ calls: 1, sessions: 0 })).toEqual({ tokens: 0, costNanoUsd: 0, sessions: 0 })
    expect(spentBy(undefined)).toEqual({ tokens: 0, costNanoUsd: 0, sessions: 0 })
  })

  it('since an earlier look is the difference; what is unknown stays so', () => {
    const before = { calls: 1, input: 10, output: 1, sessions: 1 }
    const after = { calls: 3, input: 15, cacheWrite: 8, cacheWrite1h: 5, output: 4, costNanoUsd: 9, sessions: 2 }
    const since = growthOf<SessionUsage>(before, after)
    expect(since).toMatchObject({ calls: 2, input: 5, output: 3, cacheWrite1h: 5, costNanoUsd: 9, sessions: 1 })
    expect(since.cacheRead).toBeUndefined()
    expect(since.delegatedTokens).toBeUndefined()
  })
})

/** What an agent has delegated, as the scheduler keeps it. */
class Ledger {
  delegated: DelegatedData = nothingDelegated
  readonly running: Allowance[] = []
  readonly #limits: DelegationLimitsData

  constructor(limits: DelegationLimitsData) {
    this.#limits = limits
  }

  get left(): Allowance {
    return leftOf(this.#limits, this.delegated)
  }

  /** What a further session is granted; `undefined` if there is none. */
  admit(wanted: Wanted | undefined, canDelegate: boolean): Allowance | undefined {
    if (exhausted(this.left, 1) !== undefined) return undefined
    this.#add({ launched: 1 })
    const grant = grantOf(this.left, wanted, canDelegate)
    if (typeof grant === 'string') return undefined
    this.#reserve(grant, 1)
    this.running.push(grant)
    return grant
  }

  /** A session ends that has spent such a share of its grant. */
  end(which: number, share: number): void {
    const [grant] = this.running.splice(which % Math.max(1, this.running.length), 1)
    if (grant === undefined) return
    this.#reserve(grant, -1)
    const part = (amount = 0): number => Math.floor(amount * share)
    const { sessions, tokens, costNanoUsd } = grant
    this.#add({ spentSessions: part(sessions), spentTokens: part(tokens), spentCostNanoUsd: part(costNanoUsd) })
  }

  /** Everything that is left, reserved and spent. */
  get all(): Required<Allowance> {
    const { launched, reservedSessions, spentSessions, ...rest } = this.delegated
    const { sessions, tokens = 0, costNanoUsd = 0 } = this.left
    return {
      sessions: sessions + launched + reservedSessions + spentSessions,
      tokens: tokens + rest.reservedTokens + rest.spentTokens,
      costNanoUsd: costNanoUsd + rest.reservedCostNanoUsd + rest.spentCostNanoUsd,
    }
  }

  #reserve({ sessions, tokens = 0, costNanoUsd = 0 }: Allowance, sign: 1 | -1): void {
    const [reservedSessions, reservedTokens] = [sign * sessions, sign * tokens]
    this.#add({ reservedSessions, reservedTokens, reservedCostNanoUsd: sign * costNanoUsd })
  }

  #add(more: Partial<DelegatedData>): void {
    const added = Object.entries(more).map(([key, amount = 0]) => [
      key,
      (this.delegated[key as keyof DelegatedData] ?? 0) + amount,
    ])
    this.delegated = { ...this.delegated, ...Object.fromEntries(added) } as DelegatedData
  }
}

const usd = fc.integer({ min: 0, max: 10_000_000 }).map((cents) => cents / 100)
const limitsOf = fc.record({ sessions: fc.nat({ max: 40 }), tokens: fc.nat({ max: 1_000_000 }), costUsd: usd })
const wantedOf = fc.record(
  { sessions: fc.nat({ max: 40 }), tokens: fc.nat({ max: 1_000_000 }), costUsd: usd },
  { requiredKeys: [] },
)
/** What happens to an agent's sessions: one is admitted, or one ends. */
const story = fc.array(
  fc.oneof(
    fc.record({ admits: fc.constant(true as const), wanted: wantedOf, canDelegate: fc.boolean() }),
    fc.record({
      admits: fc.constant(false as const),
      which: fc.nat(),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  ),
  { maxLength: 60 },
)

describe('grants, whatever is asked for and spent', () => {
  it('never come to more than the limit, with what was spent, and are never less than nothing', () => {
    const property = fc.property(limitsOf, story, (limits, events) => {
      const ledger = new Ledger(limits)
      const whole = { sessions: limits.sessions, tokens: limits.tokens, costNanoUsd: toNanoUsd(limits.costUsd) }
      for (const event of events) {
        if (event.admits) expectGranted(ledger, event.wanted, event.canDelegate)
        else ledger.end(event.which, event.share)
        expect(ledger.all).toEqual(whole)
        for (const amount of [...Object.values(ledger.delegated), ...Object.values(ledger.left)]) {
          expect(amount).toBeGreaterThanOrEqual(0)
        }
      }
      while (ledger.running.length > 0) ledger.end(0, 0)
      expect(ledger.delegated).toMatchObject({ reservedSessions: 0, reservedTokens: 0, reservedCostNanoUsd: 0 })
    })
    fc.assert(property)
  })

  it('are the same amount of money in dollars and back', () => {
    const property = fc.property(fc.integer({ min: 0, max: 1e15 }), (nano) => {
      expect(toNanoUsd(toUsd(nano))).toBe(nano)
    })
    fc.assert(property)
    expect(toNanoUsd(0.1) + toNanoUsd(0.2)).toBe(toNanoUsd(0.3))
  })
})

/** A session is granted what it asks for, else a quarter, and no more than there is. */
function expectGranted(ledger: Ledger, wanted: Wanted, canDelegate: boolean): void {
  const { sessions, tokens = 0, costNanoUsd = 0 } = ledger.left
  const grant = ledger.admit(wanted, canDelegate)
  if (grant === undefined) return
  const quarter = (amount: number): number => Math.floor(amount / 4)
  expect(grant).toEqual({
    sessions: canDelegate ? (wanted.sessions ?? quarter(sessions - 1)) : 0,
    tokens: wanted.tokens ?? quarter(tokens),
    costNanoUsd: wanted.costUsd === undefined ? quarter(costNanoUsd) : toNanoUsd(wanted.costUsd),
  })
  expect(grant.sessions).toBeLessThanOrEqual(sessions - 1)
  expect(grant.tokens).toBeLessThanOrEqual(tokens)
  expect(grant.costNanoUsd).toBeLessThanOrEqual(costNanoUsd)
}
