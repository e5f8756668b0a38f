import { type FailureKind, Llm, type RetryPolicy } from 'entia'
import { standardRetry } from 'entia/models'
import { Due, Effect, HostFacts, Outcome, Pending } from 'entia/components'
import { retry } from 'entia/systems'
import { describe, expect, it } from 'vitest'
import { answered, model, saying, settleWith, thinker, tickAt, told, worldOf } from '../one-tick.ts'

const policy: RetryPolicy = { maxAttempts: 3, firstDelayMs: 1_000, maxDelayMs: 3_000, kinds: ['overloaded'] }

function failing(kind: FailureKind = 'overloaded', retryAfterMs?: number) {
  const failure = { kind, message: 'no', ...(retryAfterMs !== undefined && { retryAfterMs }) }
  return { ok: false as const, failure }
}

/** An agent whose call has failed at this try. */
function failed({
  own = policy,
  attempt = 1,
  kind,
  retryAfterMs,
  isFinal,
}: {
  own?: RetryPolicy | false | 'none'
  attempt?: number
  kind?: FailureKind
  retryAfterMs?: number
  isFinal?: true
} = {}) {
  const world = worldOf(retry)
  const { agent, call } = thinker(world)
  if (own !== 'none') world.set(agent, Llm, { model, retry: own })
  world.patch(call, Effect, { attempt })
  const outcome = failing(kind, retryAfterMs)
  settleWith(world, call, isFinal ? { ...outcome, failure: { ...outcome.failure, isFinal } } : outcome)
  return { world, agent, call }
}

describe('a model call that failed for a passing reason', () => {
  it('waits for its next try, and its outcome is put aside', () => {
    const { world, agent, call } = failed()
    const { events } = tickAt(world, 500)
    const { atMs } = world.read(call, Due)
    expect(world.has(call, Outcome)).toBe(false)
    expect(world.has(call, Pending)).toBe(false)
    expect(world.read(call, Effect).attempt).toBe(2)
    const { failure } = failing()
    expect(events).toEqual([{ type: 'retry-scheduled', agent, effect: call, attempt: 2, atMs, failure }])
  })

  it.each([
    [1, undefined, 1_000],
    [2, undefined, 2_000],
    [1, 9_000, 9_000],
    [1, 10, 1_000],
  ])('at try %i, with retryAfterMs %s, waits %i ms and up to a quarter more', (attempt, retryAfterMs, waitMs) => {
    const { world, call } = failed({ attempt, ...(retryAfterMs !== undefined && { retryAfterMs }) })
    tickAt(world, 500)
    const { atMs } = world.read(call, Due)
    expect(atMs).toBeGreaterThan(500 + waitMs)
    expect(atMs).toBeLessThanOrEqual(500 + waitMs * 1.25)
  })

  it('waits no longer than the longest wait, however often it has failed', () => {
    const { world, call } = failed({ own: { ...policy, maxAttempts: 20 }, attempt: 15 })
    tickAt(world, 0)
    expect(world.read(call, Due).atMs).toBeLessThanOrEqual(3_000 * 1.25)
  })

  it('comes back at another time than those that failed with it, by the dice of its world', () => {
    const waits = (count: number) => {
      const world = worldOf(retry)
      const calls = Array.from({ length: count }, () => thinker(world))
      for (const { agent, call } of calls) {
        world.set(agent, Llm, { model, retry: policy })
        settleWith(world, call, failing())
      }
      tickAt(world, 0)
      return calls.map(({ call }) => world.read(call, Due).atMs)
    }
    expect(new Set(waits(20)).size).toBeGreaterThan(10)
    expect(waits(20)).toEqual(waits(20))
  })

  it('is pending again when its wait is over, and not before', () => {
    const { world, call } = failed()
    tickAt(world, 0)
    tickAt(world, 900)
    expect(world.has(call, Due)).toBe(true)
    tickAt(world, 1_300, { kind: 'due', effect: call, attempt: 2 })
    expect(world.has(call, Due)).toBe(false)
    expect(world.has(call, Pending)).toBe(true)
  })

  it('waits on when the time of the try before it is said to be over', () => {
    const { world, call } = failed()
    tickAt(world, 0)
    tickAt(world, 900, { kind: 'due', effect: call, attempt: 1 })
    expect(world.has(call, Due)).toBe(true)
    expect(world.has(call, Pending)).toBe(false)
  })
})

describe('a model call that is not tried again', () => {
  it.each([
    ['has had all its tries', { attempt: 3 }],
    ['failed in a way that will not pass', { kind: 'unauthorized' as const }],
    ['belongs to an agent that wants none', { own: false as const }],
  ])('%s: its outcome stays', (_, how) => {
    const { world, call } = failed(how)
    const result = tickAt(world, 0)
    expect(world.read(call, Outcome)).toMatchObject({ ok: false })
    expect(told(result)).toEqual([])
    expect(world.has(call, Due)).toBe(false)
  })

  it('has a failure that is final, whatever its kind', () => {
    const { world, call } = failed({ isFinal: true })
    tickAt(world, 0)
    expect(world.has(call, Due)).toBe(false)
    expect(world.has(call, Outcome)).toBe(true)
  })

  it.each<[string, RetryPolicy | 'none', number, boolean]>([
    ['ten minutes where the policy says nothing', policy, 600_000, true],
    ['ten minutes where the policy says nothing', policy, 600_001, false],
    ['ten minutes by the standard policy', 'none', 600_001, false],
    ['the bound of its policy', { ...policy, maxRetryAfterMs: 5_000 }, 5_000, true],
    ['the bound of its policy', { ...policy, maxRetryAfterMs: 5_000 }, 5_001, false],
  ])('may be asked to wait no longer than %s', (_, own, retryAfterMs, isTriedAgain) => {
    const { world, call } = failed({ own, retryAfterMs })
    tickAt(world, 0)
    expect(world.has(call, Due)).toBe(isTriedAgain)
    expect(world.has(call, Outcome)).toBe(!isTriedAgain)
  })

  it('could only be tried when its deadline is over', () => {
    const { world, call } = failed({ retryAfterMs: 9_000 })
    world.patch(call, Effect, { deadlineMs: 9_000 })
    expect(told(tickAt(world, 0))).toEqual([])
    expect(world.has(call, Outcome)).toBe(true)
  })

  it('has succeeded', () => {
    const { world, call } = failed()
    world.set(call, Outcome, answered(saying('yes')))
    tickAt(world, 0)
    expect(world.has(call, Outcome)).toBe(true)
  })
})

describe('the policy of a call', () => {
  const patient = { ...policy, firstDelayMs: 50_000, maxDelayMs: 50_000 }

  it('is its provider’s where the agent says nothing', () => {
    const { world, call } = failed({ own: 'none' })
    world.spawn(HostFacts({ retry: { scripted: patient, other: false } }))
    tickAt(world, 0)
    expect(world.read(call, Due).atMs).toBeGreaterThan(50_000)
  })

  it('is the agent’s, whatever the provider says', () => {
    const { world, call } = failed({ own: patient })
    world.spawn(HostFacts({ retry: { scripted: false } }))
    tickAt(world, 0)
    expect(world.read(call, Due).atMs).toBeGreaterThan(50_000)
  })

  it('is the standard one where nobody says anything', () => {
    const { world, call } = failed({ own: 'none', kind: 'rate-limited' })
    tickAt(world, 0)
    expect(world.read(call, Due).atMs).toBeGreaterThan(standardRetry.firstDelayMs)
    const { world: other, call: last } = failed({
      own: 'none',
      kind: 'rate-limited',
      attempt: standardRetry.maxAttempts,
    })
    tickAt(other, 0)
    expect(other.has(last, Outcome)).toBe(true)
  })
})
