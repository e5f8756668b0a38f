import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { assertLawful, law, simulate, sweep, type SweepOptions, type SweepResult } from '../../src/sim/index.ts'
import { hastyShop } from './hasty-shop.ts'
import { smallTeam } from './small-team.ts'

const team = { ...smallTeam, laws: [], faults: { model: { overloaded: 0.1 }, crash: { perTick: 0.05 } } }

/** What does not depend on how fast the machine is. */
function summaryOf({ realMs: _real, runsPerSecond: _speed, failure, ...sums }: SweepResult) {
  return { ...sums, seed: failure?.result.seed, report: failure?.report }
}

describe('a sweep', () => {
  it('sums up what its runs came to', async () => {
    const { ok, runs, failures, failed, broken, failure, ...sums } = await sweep({ ...team, seeds: 10 })
    expect({ ok, runs, failures, failed, broken, failure }).toEqual({
      ok: true,
      runs: 10,
      failures: 0,
      failed: [],
      broken: {},
      failure: undefined,
    })
    let ticks = 0
    let crashes = 0
    let virtualMs = 0
    let overloaded = 0
    for (let seed = 1; seed <= 10; seed++) {
      const run = await simulate({ ...team, seed })
      ticks += run.ticks
      crashes += run.crashes
      virtualMs += run.virtualMs
      overloaded += run.faults.filter(({ what }) => what === 'model.overloaded').length
    }
    expect(crashes).toBeGreaterThan(0)
    expect(sums).toMatchObject({ ticks, crashes, virtualMs })
    expect(sums.faults['model.overloaded']).toBe(overloaded)
    expect(sums.realMs).toBeGreaterThan(0)
    expect(sums.runsPerSecond).toBeCloseTo(10 / (sums.realMs / 1_000))
  })

  it('comes to the same each time, under the same seeds', async () => {
    const options = { ...hastyShop(), seeds: 300 }
    expect(summaryOf(await sweep(options))).toEqual(summaryOf(await sweep(options)))
  })

  it('may be made in parts', async () => {
    const whole = await sweep({ ...team, seeds: 6, from: 100 })
    const first = await sweep({ ...team, seeds: 2, from: 100 })
    const second = await sweep({ ...team, seeds: 4, from: 102 })
    expect([whole.runs, first.runs, second.runs]).toEqual([6, 2, 4])
    expect(whole.ticks).toBe(first.ticks + second.ticks)
    expect(whole.checks).toBe(first.checks + second.checks)
  })

  it('ends with the first run that breaks a law, which it makes smaller', async () => {
    const { ok, runs, failures, failed, broken, failure } = await sweep({ ...hastyShop(), seeds: 600 })
    expect(ok).toBe(false)
    expect({ failures, failed, broken }).toEqual({
      failures: 1,
      failed: [runs],
      broken: { 'no order is placed twice': 1 },
    })
    expect(failure?.result).toMatchObject({ seed: runs, ok: false })
    expect(failure?.shrunk?.faults.length).toBeLessThanOrEqual(failure?.result.faults.length ?? 0)
    expect(failure?.report).toContain('no order is placed twice')
  })

  it('that keeps going names every seed that fails, and reports on the first', async () => {
    const everyThird = law<{ shop: { orders: string[] } }>('seeds are no threes', ({ seed }) => seed % 3 !== 0)
    const options = { ...hastyShop('once'), laws: [everyThird], seeds: 10, keepGoing: true, shrink: false }
    const { runs, failures, failed, broken, failure } = await sweep(options)
    expect(runs).toBe(10)
    expect(failed).toEqual([3, 6, 9])
    expect({ failures, broken }).toEqual({ failures: 3, broken: { 'seeds are no threes': 3 } })
    expect(failure?.result.seed).toBe(3)
    expect(failure?.shrunk).toBeUndefined()
  })

  it('names a hundred seeds at most, and counts all', async () => {
    const options = { ...smallTeam, laws: [law('nothing is allowed', () => false)], seeds: 120, keepGoing: true }
    const { failures, failed } = await sweep(options)
    expect(failures).toBe(120)
    expect(failed).toHaveLength(100)
  })

  it('tells after each run how far it is', async () => {
    const told: string[] = []
    await sweep({
      ...team,
      seeds: 3,
      onProgress: ({ done, seeds, failures }) => told.push(`${done}/${seeds}, ${failures} failed`),
    })
    expect(told).toEqual(['1/3, 0 failed', '2/3, 0 failed', '3/3, 0 failed'])
  })

  it('keeps nothing of runs that were lawful', async () => {
    const worlds: WeakRef<object>[] = []
    const world = (seed: number) => {
      const made = smallTeam.world(seed)
      worlds.push(new WeakRef(made))
      return made
    }
    await sweep({ ...team, world, seeds: 12, keepGoing: true })
    setFlagsFromString('--expose-gc')
    await new Promise((resolve) => setImmediate(resolve))
    ;(runInNewContext('gc') as () => void)()
    expect(worlds.length).toBeGreaterThanOrEqual(12)
    expect(worlds.filter((each) => each.deref() !== undefined).length).toBeLessThanOrEqual(2)
  })

  it('says for which seed no world could be made', async () => {
    const world = (seed: number) => {
      if (seed === 4) throw new Error('four is a bad number')
      return smallTeam.world(seed)
    }
    await expect(sweep({ ...team, world, seeds: 10 })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: 'sweep(): seed 4 could not be run: four is a bad number',
      details: { seed: 4 },
    })
  })

  it.for<[unknown, string]>([
    [{ seeds: 0 }, 'seeds must be an integer ≥ 1, got 0'],
    [{ seeds: -3 }, 'got -3'],
    [{ seeds: 2.5 }, 'got 2.5'],
    [{}, 'got undefined'],
    [{ seeds: 1, from: -1 }, 'from must be an integer ≥ 0, got -1'],
    [{ seeds: 1, seed: 4 }, 'sweep(): unknown option seed. Known: seeds, from'],
    [{ seeds: 1, keepgoing: true }, 'sweep(): unknown option keepgoing'],
    [{ seeds: 1, onTrace: () => undefined }, 'sweep(): unknown option onTrace'],
    [{ seeds: 1, bounds: { maxTicks: 0 } }, 'simulate(): bounds.maxTicks must be a number above 0, got 0'],
  ])('refuses %j', async ([options, message]) => {
    await expect(sweep({ ...(smallTeam as object), ...(options as SweepOptions) })).rejects.toMatchObject({
      code: 'invalid-argument',
      message: expect.stringContaining(message) as string,
      details: expect.not.objectContaining({ seed: 1 }) as object,
    })
  })

  it('under which a law was broken fails a test with its report', async () => {
    const broken = await sweep({ ...smallTeam, laws: [law('nothing is allowed', () => false)], seeds: 5 })
    expect(() => assertLawful(broken)).toThrow(
      expect.objectContaining({
        code: 'law-broken',
        message: broken.failure?.report,
        details: { seed: 1, law: 'nothing is allowed' },
      }),
    )
    assertLawful(await sweep({ ...team, seeds: 1 }))
  })
})
