import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { joinProcessPool, type PoolMembership, SessionPool } from '../../../src/engine/children/pool.ts'
import { processorUs } from '../../processor-us.ts'

const [a, b, c, d, e] = ['session-a', 'session-b', 'session-c', 'session-d', 'session-e'] as const

/** A pool, and what it answered in which order. */
function watchedPool(cap: number) {
  const pool = new SessionPool({ cap })
  const admitted: string[] = []
  const refused: string[] = []
  const enter = (sessionId: string, place: 'first' | 'return' = 'first'): void =>
    void pool.enter(sessionId, place).then((hasSlot) => (hasSlot ? admitted : refused).push(sessionId))
  return { pool, admitted, refused, enter }
}

/** Until all that was to follow has followed. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

describe('a session pool', () => {
  it('admits five at once unless it is told otherwise', async () => {
    const pool = new SessionPool()
    for (let index = 0; index < 7; index++) void pool.enter(`session-${index}`, 'first')
    await settled()
    expect([pool.cap, pool.running]).toEqual([5, 5])
    expect(new SessionPool({ cap: 2 }).cap).toBe(2)
  })

  it.each([0, -1, 2.5, NaN, Infinity, JSON.parse('"3"') as number])('refuses a cap of %s', (cap) => {
    expect(() => new SessionPool({ cap })).toThrow(
      expect.objectContaining({
        code: 'invalid-argument',
        message: expect.stringContaining('must be an integer ≥ 1, got ') as string,
      }),
    )
  })

  it('refuses an option that it does not know, by name', () => {
    const misspelt = { cap: 3, caps: 3 }
    expect(() => new SessionPool(misspelt)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
    expect(() => new SessionPool(misspelt)).toThrow(/caps/)
  })

  it('starts 1,000 sessions at a cap of 5 in the order of their arrival, five at most at once', async () => {
    const { pool, admitted, enter } = watchedPool(5)
    const sessions = Array.from({ length: 1000 }, (_, index) => `session-${index}`)
    for (const session of sessions) enter(session)
    for (let ended = 0; ended < sessions.length; ended++) {
      await settled()
      expect(pool.running).toBe(Math.min(5, sessions.length - ended))
      expect(admitted).toHaveLength(Math.min(ended + 5, sessions.length))
      pool.leave(sessions[ended] as string)
    }
    expect(admitted).toEqual(sessions)
    expect(pool.running).toBe(0)
  })

  it('with cap 2 and three sessions has two running and one waiting at position 0, which is gone when it runs', async () => {
    const { pool, admitted, enter } = watchedPool(2)
    for (const session of [a, b, c]) enter(session)
    await settled()
    expect(admitted).toEqual([a, b])
    expect([a, b, c].map((session) => pool.position(session))).toEqual([undefined, undefined, 0])
    pool.leave(a)
    await settled()
    expect(admitted).toEqual([a, b, c])
    expect(pool.position(c)).toBeUndefined()
  })

  it('with cap 1 tells how many wait ahead of each', async () => {
    const { pool, enter } = watchedPool(1)
    for (const session of [a, b, c]) enter(session)
    expect([pool.position(b), pool.position(c)]).toEqual([0, 1])
    pool.leave(a)
    await settled()
    expect([pool.position(b), pool.position(c)]).toEqual([undefined, 0])
    expect(pool.position('session-unknown')).toBeUndefined()
  })

  it('lets those that return go ahead of all that were never admitted, first come first served among themselves', async () => {
    const { pool, admitted, enter } = watchedPool(1)
    enter(a)
    enter(b)
    enter(c, 'return')
    enter(d)
    enter(e, 'return')
    expect([a, b, c, d, e].map((session) => pool.position(session))).toEqual([undefined, 0, undefined, 1, undefined])
    for (const next of [a, c, e, b, d]) {
      await settled()
      expect(admitted.at(-1)).toBe(next)
      pool.leave(next)
    }
  })

  it('gives a slot to one that returns in the moment in which it becomes free', async () => {
    const { pool, admitted, enter } = watchedPool(1)
    enter(a)
    enter(b)
    pool.leave(a)
    enter(c, 'return')
    await settled()
    expect(admitted).toEqual([a, c])
  })

  it('lets a session that gave its slot back have one again, so that whom it waits for can run', async () => {
    const { pool, admitted, enter } = watchedPool(1)
    enter(a)
    enter(b)
    pool.leave(a)
    await settled()
    enter(c)
    enter(a, 'return')
    pool.leave(b)
    await settled()
    expect(admitted).toEqual([a, b, a])
    expect([pool.running, pool.position(c)]).toEqual([1, 0])
  })

  it('never admits one that has left the line, and moves those behind it up in that moment', async () => {
    const { pool, admitted, refused, enter } = watchedPool(1)
    for (const session of [a, b, c, d]) enter(session)
    pool.leave(c)
    expect([pool.position(b), pool.position(c), pool.position(d)]).toEqual([0, undefined, 1])
    pool.leave(b)
    expect(pool.position(d)).toBe(0)
    await settled()
    expect(refused.sort()).toEqual([b, c])
    pool.leave(a)
    await settled()
    expect(admitted).toEqual([a, d])
    expect(pool.running).toBe(1)
  })

  it('lets one that left the line enter again, behind all', async () => {
    const { pool, admitted, refused, enter } = watchedPool(1)
    for (const session of [a, b, c]) enter(session)
    pool.leave(b)
    enter(b)
    expect([pool.position(c), pool.position(b)]).toEqual([0, 1])
    for (const next of [a, c, b]) {
      await settled()
      pool.leave(next)
    }
    expect(admitted).toEqual([a, c, b])
    expect(refused).toEqual([b])
  })

  it('frees a slot once, however often its session leaves', async () => {
    const { pool, admitted, enter } = watchedPool(1)
    for (const session of [a, b, c]) enter(session)
    for (let times = 0; times < 3; times++) pool.leave(a)
    pool.leave('session-unknown')
    await settled()
    expect(admitted).toEqual([a, b])
    expect(pool.running).toBe(1)
  })

  it('refuses a session that is in it already', () => {
    const { pool, enter } = watchedPool(1)
    enter(a)
    enter(b)
    const refusal = (what: RegExp) =>
      expect.objectContaining({ code: 'invalid-argument', message: expect.stringMatching(what) as string })
    expect(() => pool.enter(a, 'return')).toThrow(refusal(/'session-a' holds a slot already/))
    expect(() => pool.enter(b, 'first')).toThrow(refusal(/'session-b' waits for a slot already/))
    expect([pool.running, pool.position(b)]).toEqual([1, 0])
  })

  it('costs as much to leave from a line of 60,000 as from one of 1,500', () => {
    const short = leavingUs(1500)
    expect(leavingUs(60_000) / short).toBeLessThan(10)
  })
})

describe('whatever enters and leaves a session pool', () => {
  const someSteps = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ enter: fc.nat(9), place: fc.constantFrom('first', 'return') }) },
      { weight: 2, arbitrary: fc.record({ leave: fc.nat(9) }) },
      { weight: 1, arbitrary: fc.constant({ wait: true }) },
    ),
    { maxLength: 120, size: 'max' },
  )

  it('is admitted as by a line kept by hand: never more than the cap, returning ones first, each in order of arrival', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), someSteps, async (cap, steps) => {
        const { pool, admitted, refused, enter } = watchedPool(cap)
        const line = { first: [] as string[], return: [] as string[] }
        const inside = new Set<string>()
        const [expected, gone]: [string[], string[]] = [[], []]
        let [free, freed] = [cap, 0]
        const admit = (): void => {
          for (; free > 0; free--) {
            const next = line.return.shift() ?? line.first.shift()
            if (next === undefined) return
            inside.add(next)
            expected.push(next)
          }
        }
        const waits = (session: string): boolean => [...line.first, ...line.return].includes(session)
        for (const step of [...steps, { wait: true }]) {
          if ('enter' in step) {
            const session = `session-${step.enter}`
            if (inside.has(session) || waits(session)) continue
            line[step.place].push(session)
            enter(session, step.place)
          } else if ('leave' in step) {
            const session = `session-${step.leave}`
            if (inside.delete(session)) freed++
            for (const lane of [line.first, line.return]) gone.push(...removed(lane, session))
            pool.leave(session)
          } else {
            // A slot that has become free goes to the head of the line a moment later.
            await settled()
            free += freed
            freed = 0
          }
          admit()
          expect('wait' in step ? [admitted, refused] : [expected, gone]).toEqual([expected, gone])
          expect(pool.running).toBe(inside.size)
          expect(line.first.map((session) => pool.position(session))).toEqual(line.first.map((_, index) => index))
          for (const session of [...line.return, ...inside]) expect(pool.position(session)).toBeUndefined()
        }
      }),
      { numRuns: 100 },
    )
  })

  it('is never more than the cap in between either, nor out of order among those that came at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat(5), { maxLength: 40, size: 'max' }),
        async (cap, turns) => {
          const pool = new SessionPool({ cap })
          const arrived: string[] = []
          const admitted: string[] = []
          const inside: string[] = []
          const come = async (session: string): Promise<void> => {
            arrived.push(session)
            await pool.enter(session, 'first')
            admitted.push(session)
            inside.push(session)
            expect(inside.length).toBeLessThanOrEqual(cap)
            expect(pool.running).toBeLessThanOrEqual(cap)
          }
          const all: Promise<void>[] = []
          for (const [turn, count] of turns.entries()) {
            for (let index = 0; index < count; index++) all.push(come(`session-${turn}-${index}`))
            const leaving = inside.shift()
            if (leaving !== undefined) pool.leave(leaving)
            // Sometimes nobody has moved up yet when the next ones come.
            if (count % 2 === 0) await Promise.resolve()
          }
          while (inside.length > 0 || admitted.length < arrived.length) {
            const leaving = inside.shift()
            if (leaving !== undefined) pool.leave(leaving)
            await settled()
          }
          await Promise.all(all)
          expect(admitted).toEqual(arrived)
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe('the pool of a process', () => {
  const memberships: PoolMembership[] = []
  const join = (cap?: number): SessionPool => {
    const membership = joinProcessPool(cap)
    memberships.push(membership)
    return membership.pool
  }

  afterEach(() => {
    for (const membership of memberships.splice(0)) membership.leave()
  })

  it('has the cap of the first to join, and is one queue for all that name the same or none', async () => {
    const pool = join(1)
    expect(join(1)).toBe(pool)
    expect(join()).toBe(pool)
    void join(1).enter(a, 'first')
    void join().enter(b, 'first')
    expect(pool.position(b)).toBe(0)
  })

  it('has a cap of 5 if the first to join names none', () => {
    expect(join().cap).toBe(5)
    expect(join(5).cap).toBe(5)
  })

  it('refuses another cap than it has', () => {
    join(5)
    expect(() => join(3)).toThrow(
      expect.objectContaining({
        code: 'cap-conflict',
        message: 'Conflicting session pool cap: existing=5, requested=3',
        details: { existing: 5, requested: 3 },
      }),
    )
  })

  it.each([0, 1.5, NaN])('refuses a cap of %s before anything else, and is not made by it', (cap) => {
    expect(() => join(cap)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
    join(3)
    expect(() => join(cap)).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
  })

  it('is forgotten with its cap when the last one has left, and not before', () => {
    const [first, second] = [joinProcessPool(2), joinProcessPool()]
    first.leave()
    first.leave()
    expect(() => join(3)).toThrow(expect.objectContaining({ code: 'cap-conflict' }))
    second.leave()
    const fresh = join(3)
    expect(fresh.cap).toBe(3)
    expect(fresh).not.toBe(first.pool)
    second.leave()
    expect(join()).toBe(fresh)
  })

  it('is not joined by whoever was refused', () => {
    const membership = joinProcessPool(2)
    expect(() => joinProcessPool(3)).toThrow(expect.objectContaining({ code: 'cap-conflict' }))
    membership.leave()
    expect(join(3).cap).toBe(3)
  })
})

function removed(lane: string[], session: string): string[] {
  const at = lane.indexOf(session)
  return at === -1 ? [] : lane.splice(at, 1)
}

/** What it costs the processor to leave from the middle of a line so long: the best of some batches. */
function leavingUs(lineLength: number): number {
  const pool = new SessionPool({ cap: 1 })
  for (let index = 0; index < lineLength; index++) void pool.enter(`session-${index}`, 'first')
  const batches = Array.from({ length: 14 }, (_, batch) => {
    const before = processorUs()
    for (let index = 0; index < 50; index++) pool.leave(`session-${lineLength / 2 + batch * 50 + index}`)
    return processorUs() - before
  })
  return Math.min(...batches)
}
