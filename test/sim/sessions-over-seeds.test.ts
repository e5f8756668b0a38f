import { describe, expect, it } from 'vitest'
import { type FaultRates, simulate } from '../../src/sim/index.ts'
import { allFaults } from './busy-team.ts'
import { teamStories } from './stories/team-stories.ts'

/** So many seeds, each under one of the stories. */
const seeds = Number(process.env['SIM_SEEDS'] ?? 10)
const thorough = process.env['SIM_SEEDS'] !== undefined
const stories = Object.entries(teamStories)

describe('sessions', () => {
  it.each(stories)(
    'keep all laws with all kinds of faults: %s',
    { timeout: Math.max(60_000, seeds * 500) },
    async (name, story) => {
      const violations: unknown[] = []
      const first = stories.findIndex(([each]) => each === name) + 1
      for (let seed = first; seed <= seeds; seed += stories.length) {
        const { faults, violation } = await simulate({
          ...story(),
          faults: allFaults satisfies FaultRates,
          seed,
          thorough,
        })
        if (violation !== undefined) violations.push({ seed, ...violation, faults })
      }
      expect(violations).toEqual([])
    },
  )

  it.each(stories)('keep all laws where nothing happens to them: %s', async (_, story) => {
    for (const seed of [1, 2, 3]) expect((await simulate({ ...story(), seed })).violation).toBeUndefined()
  })
})
