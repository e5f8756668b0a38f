import { describe, expect, it } from 'vitest'
import { chaos } from './chaos.ts'

/** The smaller form of `npm run test:fleet`. */
const mishaps = { kills: 4, rootKills: 1, pauses: 1, restarts: 1, cuts: 2, delays: 1, losses: 4 }
const leaseMs = 1_500

describe('a fleet of three worker processes', () => {
  it('of which workers are killed and paused, whose server is killed, and whose network breaks, loses nothing and does nothing twice', async () => {
    const sizes = { workers: 3, maxSessions: 8, desks: 4, jobs: 3, steps: 4 }
    const result = await chaos({ ...mishaps, ...sizes, leaseMs, seed: 7 })
    expect(result.done).toEqual(mishaps)
    expect(result.wrong).toEqual([])
    expect(result.leftovers).toEqual([])
    expect(result.asked).toBeGreaterThan(4)
    expect(result.sessions).toBe(result.asked * sizes.jobs)
    expect(result.again.once).toBe(0)
    expect(result.samples).toBeGreaterThan(100)
    expect(result.samplesOver).toBe(0)
    expect(result.mostSlots).toBeGreaterThan(2)
    const killed = [...result.killedMs, ...result.rootKilledMs].toSorted((a, b) => a - b)
    expect(killed.length).toBeGreaterThan(5)
    // A killed worker is noticed by its lock: no lease is waited for.
    expect(killed[Math.ceil(killed.length * 0.95) - 1]).toBeLessThan(1_000)
    for (const tookMs of result.pausedMs) expect(tookMs).toBeLessThan(leaseMs + 1_000)
  }, 240_000)
})
