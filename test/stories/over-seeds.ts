import { type ServiceSet, type SimulateOptions, sweep } from 'entia/sim'
import { describe, expect, it } from 'vitest'
import { everyFleetFault } from './told/every-fault.ts'

/** How many seeds each story is told under: `npm run test:sim` takes more. */
const seeds = Number(process.env['SIM_SEEDS'] ?? 10)
const thorough = process.env['SIM_SEEDS'] !== undefined
/** With three processes, where a run takes about ten times as long. */
const fleetSeeds = Math.max(3, Math.ceil(Number(process.env['SIM_SEEDS'] ?? 0) / 10))

/** Tells a story under many seeds. What breaks is reported with its seed, as small as it can be made. */
export function overSeeds<S extends ServiceSet>(subject: string, story: SimulateOptions<S>): void {
  describe.for([subject])('%s', () => {
    it(`keeps all laws under ${seeds} seeds, whatever goes wrong`, { timeout: 60 * 60_000 }, async () => {
      const { ok, failure, runs, crashes, faults } = await sweep({ ...story, seeds, thorough })
      expect(ok, failure?.report).toBe(true)
      expect(runs).toBe(seeds)
      expect(crashes, 'processes have died').toBeGreaterThan(0)
      expect(Object.keys(faults).length, 'kinds of faults have struck').toBeGreaterThan(10)
    })
  })
}

/** Tells a story with three processes, which die, stand still, are cut off and replaced. */
export function overSeedsOfFleets<S extends ServiceSet>(subject: string, story: SimulateOptions<S>): void {
  describe.for([subject])('%s', () => {
    it(`keeps all laws with three processes under ${fleetSeeds} seeds`, { timeout: 24 * 3_600_000 }, async () => {
      const { ok, failure, runs } = await sweep({
        ...story,
        processes: 3,
        faults: everyFleetFault,
        seeds: fleetSeeds,
        thorough,
      })
      expect(ok, failure?.report).toBe(true)
      expect(runs).toBe(fleetSeeds)
    })
  })
}
