import { Conversation, scripted } from 'entia'
import { describe, expect, it } from 'vitest'
import {
  type Fault,
  law,
  type Law,
  shrink,
  simulate,
  type SimulationResult,
  sweep,
  type WatchedWorld,
} from '../../src/sim/index.ts'
import { hastyShop, noOrderTwice } from './hasty-shop.ts'

function shopOf(restart: 'pure' | 'once') {
  const { seeds: _seeds, ...options } = hastyShop(restart)
  return options
}

/** The first runs that place an order twice. */
async function hastyRuns(count: number): Promise<SimulationResult[]> {
  const found: SimulationResult[] = []
  for (let from = 1; found.length < count;) {
    const { failure } = await sweep({ ...hastyShop(), from, shrink: false })
    if (failure === undefined) break
    found.push(failure.result)
    from = failure.result.seed + 1
  }
  return found
}

const hasty = await hastyRuns(4)

function failedCalls(worlds: ReadonlyMap<string, WatchedWorld>): number {
  const messages = worlds.get('shop')?.world.read(1, Conversation) ?? []
  return [...messages].filter((message) => message.role === 'tool' && message.isError === true).length
}

/** Broken by two calls of a tool that fail. */
const oneMayFail = law('one call may fail', {
  finished: ({ worlds }) => failedCalls(worlds) < 2 || 'two have failed',
})

const kindOf = (at: string): string => at.slice(0, at.lastIndexOf(' '))
const numberOf = (at: string): number => Number(at.slice(at.lastIndexOf(' ') + 1))

describe('a case that breaks a law', () => {
  it('is made as small as the crash that breaks it, and what puts it into its place', async () => {
    expect(hasty).toHaveLength(4)
    let single = 0
    for (const run of hasty) {
      const shrunk = await shrink(shopOf('pure'), run)
      const faults = shrunk?.faults ?? []
      expect(shrunk?.result.violation?.law).toBe('no order is placed twice')
      expect(faults.at(-1)?.what).toMatch(/^crash\./)
      expect(faults.length).toBeLessThanOrEqual(run.faults.length)
      // Each is what it was, where it was or at an earlier place of that kind.
      for (const { what, at } of faults) {
        const places = run.faults.filter((other) => other.what === what).map((other) => other.at)
        expect(places.some((place) => kindOf(place) === kindOf(at) && numberOf(at) <= numberOf(place))).toBe(true)
      }
      if (faults.length === 1) single++
    }
    expect(single).toBe(4)
  })

  it('needs each fault that is left', async () => {
    for (const run of hasty) {
      const { faults } = (await shrink(shopOf('pure'), run)) ?? { faults: [] }
      for (const index of faults.keys()) {
        const { violation } = await simulate({
          ...shopOf('pure'),
          seed: run.seed,
          faults: faults.toSpliced(index, 1),
        })
        expect(violation?.law).not.toBe('no order is placed twice')
      }
    }
  })

  it('keeps two faults that only break it together', async () => {
    const faults: readonly Fault[] = [
      { what: 'model.overloaded', at: 'shop model 1' },
      { what: 'tool.throws', at: 'shop tool 1' },
      { what: 'tool.slow', at: 'shop tool 2', ms: 9_000 },
      { what: 'tool.throws', at: 'shop tool 3' },
      { what: 'delivery.late', at: 'shop outcome 9', ms: 4_000 },
    ]
    const options = { ...shopOf('once'), laws: [oneMayFail], seed: 5, faults }
    const run = await simulate(options)
    expect(run.faults).toHaveLength(5)
    const shrunk = await shrink(options, run)
    expect(shrunk?.faults).toEqual([
      { what: 'tool.throws', at: 'shop tool 1' },
      { what: 'tool.throws', at: 'shop tool 2' },
    ])
  })

  it('keeps the fault without which another law is broken', async () => {
    const faults: readonly Fault[] = [
      { what: 'model.overloaded', at: 'shop model 1' },
      { what: 'tool.throws', at: 'shop tool 2' },
    ]
    const noneFails = law('no call fails', { finished: ({ worlds }) => failedCalls(worlds) === 0 })
    const oneFails = law('a call fails', { finished: ({ worlds }) => failedCalls(worlds) > 0 })
    const options = { ...shopOf('once'), laws: [noneFails, oneFails], faults }
    const shrunk = await shrink(options, await simulate(options))
    expect(shrunk?.faults).toEqual([{ what: 'tool.throws', at: 'shop tool 1' }])
    expect(shrunk?.result.violation?.law).toBe('no call fails')
  })

  it('lasts no longer than it has to', async () => {
    const slow: Fault = { what: 'tool.slow', at: 'shop tool 2', ms: 9_000 }
    const always = law('nothing is allowed', { finished: () => false })
    const notSlow = law('nothing is slow', { finished: ({ worlds }) => (worlds.get('shop')?.world.nowMs ?? 0) < 9_000 })
    const options = { ...shopOf('once'), seed: 5, faults: [slow] }
    const short = await shrink({ ...options, laws: [always] }, await simulate({ ...options, laws: [always] }))
    expect(short).toMatchObject({ faults: [], latencyMs: { model: [0, 0], tool: [0, 0] } })
    const quick = { ...options, latencyMs: { model: [10, 20] as const, tool: [10, 20] as const }, laws: [notSlow] }
    const run = await simulate(quick)
    const long = await shrink(quick, run)
    expect(long).toMatchObject({ faults: [slow], latencyMs: { model: [0, 0], tool: [0, 0] } })
    expect(long?.result.virtualMs).toBeLessThan(run.virtualMs)
    const quickest = { ...options, latencyMs: { model: [0, 0] as const, tool: [0, 0] as const }, laws: [always] }
    const same = await shrink(quickest, await simulate(quickest))
    expect(same).toMatchObject({ faults: [], latencyMs: undefined })
  })

  it('has no fault that takes its time where a moment is enough', async () => {
    const noRetry: Law = {
      name: 'no call is tried again',
      meaning: 'A model is asked once.',
      watch: () => ({ called: ({ attempt }) => (attempt > 1 ? 'it is tried again' : undefined) }),
    }
    const faults: readonly Fault[] = [{ what: 'model.rateLimitedFor', at: 'shop model 2', ms: 15_000 }]
    const options = { ...shopOf('once'), laws: [noRetry], faults }
    const shrunk = await shrink(options, await simulate(options))
    expect(shrunk?.faults).toEqual([{ what: 'model.rateLimitedFor', at: 'shop model 1', ms: 1 }])
  })

  it('that no fault has to do with is left with none', async () => {
    const night = law('the sun shines', ({ world }) => {
      if (world.tick === 5) throw new Error('it is night')
    })
    const { failure } = await sweep({ ...hastyShop(), laws: [night] })
    expect(failure?.result.violation?.message).toBe('the check threw: it is night')
    expect(failure?.shrunk?.faults).toEqual([])
  })

  it('that comes of a behaviour that throws is left with no fault', async () => {
    const answers = law('every order is placed', {
      finished: ({ services }) => services['shop'] !== undefined && false,
    })
    const buyer = scripted(() => {
      throw new Error('I have no list')
    })
    const run = await sweep({ ...hastyShop(), models: { buyer }, laws: [answers] })
    expect(run.failure?.shrunk?.faults).toEqual([])
    expect(run.failure?.result.violation?.law).toBe('models-answer')
    expect(run.failure?.report).toContain('I have no list')
  })

  it('is told to be bounded where it was not made as small as it could be', async () => {
    const [run] = hasty
    if (run === undefined) throw new Error('There is no such run.')
    const options = shopOf('pure')
    const few = await shrink(options, run, { maxRuns: 3 })
    expect(few).toMatchObject({ runs: 3, endedBy: 'maxRuns' })
    const none = await shrink(options, run, { maxRealMs: 0 })
    expect(none).toMatchObject({ runs: 2, endedBy: 'maxRealMs', faults: run.faults })
    expect((await shrink(options, run))?.endedBy).toBeUndefined()
  })

  it('is not made smaller if it cannot be made again, and the report says why that may be', async () => {
    let runs = 0
    const onceOnly = law('the first run is the worst', { finished: () => ++runs > 1 })
    const { failure } = await sweep({ ...hastyShop('once'), laws: [onceOnly], seeds: 1 })
    expect(failure?.shrunk).toBeUndefined()
    // Once more for its ticks, and once to shrink it.
    expect(runs).toBe(3)
    expect(failure?.report).toContain('The same faults did not break the law again.')
  })

  it('is made again, event by event, of the faults that struck', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const options = { ...shopOf('pure'), laws: [noOrderTwice], seed }
      const run = await simulate(options)
      const again = await simulate({ ...options, faults: run.faults })
      expect(again.faults).toEqual(run.faults)
      expect(again.trace.hash).toBe(run.trace.hash)
    }
  })
})
