import { scripted } from 'entia'
import { describe, expect, it } from 'vitest'
import {
  type FaultRates,
  law,
  simulate,
  type SimulateOptions,
  simulatedUser,
  standardLaws,
  sweep,
} from '../../src/sim/index.ts'
import { busyTeam } from './busy-team.ts'
import { hastyTallies } from './hasty-tally.ts'
import { smallTeam } from './small-team.ts'
import { theatre } from './theatre.ts'

/** What comes due arrives one by one. */
const apart = { latency: { together: 0 }, loop: { busy: 0 }, store: { slow: 0 } } satisfies FaultRates

/** Counts the ticks that take an outcome, and those that take several inputs. */
function counted(options: SimulateOptions) {
  const ticks = { withOutcome: 0, withSeveral: 0 }
  const counts = law('counts', {
    ticked: ({ step }) => {
      if (!step.inputs.some(({ kind }) => kind === 'outcome')) return true
      ticks.withOutcome++
      if (step.inputs.length > 1) ticks.withSeveral++
      return true
    },
  })
  return { ticks, options: { ...options, laws: [...(options.laws ?? standardLaws), counts] } }
}

describe('a race between outcomes of one tick', () => {
  const crashing = { crash: { perTick: 0.02 }, delivery: { late: 0.2, reordered: 0.2 }, model: { overloaded: 0.1 } }
  it.for<[string, SimulateOptions]>([
    ['of two agents', theatre(2)],
    ['of four agents', theatre(4)],
    ['of four agents, where processes die and deliveries are late', { ...theatre(4), faults: crashing }],
    ['of a model that says how long it takes', theatre(3, guestWithLatency())],
    ['where models take minutes', { ...theatre(3), latencyMs: { model: [1, 200_000] } }],
    ['of three processes', { ...theatre(4), processes: 3 }],
  ])('%s is found within 20 seeds with default settings', async ([, options]) => {
    const { failure } = await sweep({ ...options, seeds: 20, shrink: false })
    expect(failure?.result.violation?.law).toBe('nobody sits on another')
  })

  it.for(Object.entries(hastyTallies))('between two %s is found within 20 seeds, too', async ([, options]) => {
    const { failure } = await sweep({ ...options, seeds: 20, shrink: false })
    expect(failure?.result.violation?.law).toBe('all that arrives is counted')
  })

  it('is not met where outcomes arrive one by one', async () => {
    const { ok, failure } = await sweep({ ...theatre(2), faults: apart, seeds: 100 })
    expect(ok, failure?.report).toBe(true)
  })

  it('is made as small as the one fault that makes it', async () => {
    // A latency of its own stays when latencies are taken away.
    const { failure } = await sweep({ ...theatre(2, guestWithLatency()), faults: { model: { hang: 0.1 } }, seeds: 20 })
    expect(failure?.shrunk?.faults.map(({ what }) => what)).toEqual(['latency.together'])
  })
})

function guestWithLatency() {
  return scripted(
    ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? 'I sit.' : { toolCalls: [{ name: 'take_seat', arguments: {} }] },
    { latencyMs: [500, 9_000] },
  )
}

describe('what arrives at once', () => {
  it('is a good part of all outcomes, unless faults say otherwise', async () => {
    const team = counted(busyTeam())
    await sweep({ ...team.options, seeds: 20 })
    expect(team.ticks.withSeveral).toBeGreaterThan(30)
    const before = counted(busyTeam())
    await sweep({ ...before.options, faults: apart, seeds: 20 })
    expect(before.ticks.withSeveral).toBeLessThan(5)
  })

  it('may be all of it', async () => {
    const crowd = counted({ ...theatre(5), laws: [], faults: { latency: { together: 1 } } })
    await sweep({ ...crowd.options, seeds: 20 })
    expect(crowd.ticks.withSeveral / crowd.ticks.withOutcome).toBeGreaterThan(0.5)
  })

  it('is what a user says together with an outcome', async () => {
    const user = simulatedUser((seen) => (seen.type === 'turn-started' ? { say: 'And?', to: 2 } : undefined))
    let both = 0
    const counts = law('counts', {
      ticked: ({ step: { inputs } }) => {
        const kinds = new Set(inputs.map(({ kind }) => kind))
        if (kinds.has('message') && kinds.has('outcome')) both++
        return true
      },
    })
    await sweep({ ...theatre(3), users: { user }, laws: [counts], seeds: 40 })
    expect(both).toBeGreaterThan(0)
  })

  it('comes again, tick by tick, of the seed, and of the faults that struck', async () => {
    const struck = new Set<string>()
    for (let seed = 1; seed <= 15; seed++) {
      for (const options of [
        { ...smallTeam, store: 'none' as const },
        { ...smallTeam, faults: { crash: { perTick: 0.03 } } },
      ]) {
        const run = await simulate({ ...options, seed })
        const again = await simulate({ ...options, seed })
        const listed = await simulate({ ...options, seed, faults: run.faults })
        for (const other of [again, listed]) {
          expect(other.faults).toEqual(run.faults)
          expect(other.trace.lines).toEqual(run.trace.lines)
          expect(other.hash).toBe(run.hash)
        }
        for (const { what } of run.faults) struck.add(what)
      }
    }
    expect([...struck]).toEqual(expect.arrayContaining(['latency.together', 'loop.busy', 'store.slow']))
  })

  it('is what a list says, where faults are a list', async () => {
    const { faults, violation: none } = await simulate({ ...theatre(2), faults: [] })
    expect([none, faults]).toEqual([undefined, []])
    const listed = [{ what: 'latency.together', at: 'theatre model 2' }] as const
    const { violation, faults: struck } = await simulate({ ...theatre(2), faults: listed, seed: 4 })
    expect(violation?.law).toBe('nobody sits on another')
    expect(struck).toEqual([{ ...listed[0], ms: expect.any(Number) }])
  })
})
