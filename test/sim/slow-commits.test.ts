import { describe, expect, it } from 'vitest'
import { memoryStore, VirtualClock } from '../../src/index.ts'
import { Chance } from '../../src/sim/chance.ts'
import type { Fault } from '../../src/sim/fault.ts'
import { FaultPlan } from '../../src/sim/fault-plan.ts'
import { FaultyStore } from '../../src/sim/faulty-store.ts'
import { law, simulate } from '../../src/sim/index.ts'
import { ProcessClock, type ProcessState } from '../../src/sim/process-clock.ts'
import { theatre } from './theatre.ts'

const slow = { what: 'store.slow', at: 'store commit 1', ms: 500 } as const

/** A store as one process sees it, and the batches that are written, in order. */
function made(...faults: readonly Fault[]) {
  const life: { state: ProcessState } = { state: 'alive' }
  const shared = new VirtualClock()
  const clock = new ProcessClock(shared)
  const store = new FaultyStore(memoryStore(), {
    plan: new FaultPlan(new Chance(1), faults),
    state: () => life.state,
    now: () => shared.now(),
    disk: { fullUntilMs: 0 },
    struck: () => undefined,
    crash: () => undefined,
    isDueWithin: () => true,
    after: (ms, call) => clock.at(shared.now() + ms, call),
    waits: (isWaiting) => clock[isWaiting ? 'end' : 'begin']('tick'),
    parked: (what) => clock.end(what),
    label: (name) => name,
  })
  const written: string[] = []
  /** A commit of a tick, whose world waits for it. */
  const commit = async (world: string): Promise<void> => {
    clock.begin('tick')
    const journal = await store.open(world)
    await journal.commit({ rows: [], snapshot: { tick: 0, lines: ['{}'] } })
    clock.end('tick')
    written.push(`${world} at ${shared.now()}`)
  }
  return { clock, commit, life, shared, store, written }
}

describe('a slow commit', () => {
  it('is written once its time has passed, and what is given meanwhile behind it', async () => {
    const { commit, shared, written } = made(slow)
    const first = commit('a')
    let second: Promise<void> | undefined
    shared.at(200, () => {
      second = commit('b')
    })
    await first
    await second
    expect(written).toEqual(['a at 500', 'b at 500'])
  })

  it('is not waited for by work, which waits in real time', async () => {
    const { clock, commit, shared, store, written } = made(slow)
    const first = commit('a')
    let text: Promise<void> | undefined
    shared.at(200, () => {
      clock.begin()
      text = store.putText('a', 'key', 'text').finally(() => clock.end())
    })
    await first
    await text
    expect(written).toEqual(['a at 200'])
  })

  it('is never made by a process that dies meanwhile', async () => {
    const { clock, commit, life, shared, store, written } = made(slow)
    void commit('a')
    await new Promise<void>((resolve) => {
      shared.at(200, () => {
        life.state = 'dead'
        clock.die()
      })
      shared.at(60_000, resolve)
    })
    await store.release()
    expect(written).toEqual([])
  })

  it('lets outcomes arrive while their world is committed: the next tick takes them', async () => {
    const taken: string[] = []
    const inputs = law('inputs', {
      ticked: ({ step, world }) => {
        taken.push(`${world.nowMs} ${step.inputs.map(({ kind }) => kind).join(' ')}`)
        return true
      },
    })
    const { violation } = await simulate({
      ...theatre(3),
      laws: [inputs],
      latencyMs: { model: [100, 1_000] },
      faults: [{ what: 'store.slow', at: 'store commit 3', ms: 2_000 }],
    })
    expect(violation).toBeUndefined()
    expect(taken.slice(0, 3).map((line) => line.replace(/^\d+ /, ''))).toEqual([
      'started',
      'outcome',
      'outcome outcome',
    ])
  })
})
