import { type ServiceSet, type SimulateOptions, sweep } from 'entia/sim'
import { describe, expect, it } from 'vitest'

/** How many seeds each story is told under: `npm run test:sim` takes more. */
const seeds = Number(process.env['SIM_SEEDS'] ?? 25)

/** Tells a story under many seeds. What breaks is reported with its seed, as small as it can be made. */
export function overSeeds<S extends ServiceSet>(subject: string, story: SimulateOptions<S>): void {
  describe.for([subject])('%s', () => {
    it(`keeps all laws under ${seeds} seeds, whatever goes wrong`, { timeout: 60 * 60_000 }, async () => {
      const { ok, failure, runs, crashes, faults } = await sweep({ ...story, seeds })
      expect(ok, failure?.report).toBe(true)
      expect(runs).toBe(seeds)
      expect(crashes, 'processes have died').toBeGreaterThan(0)
      expect(Object.keys(faults).length, 'kinds of faults have struck').toBeGreaterThan(10)
    })
  })
}
