import { CostCeiling } from '../components/cost-ceiling.ts'
import { Turn } from '../components/turn.ts'
import { Unread } from '../components/unread.ts'
import type { World } from '../src/world/world.ts'
import { anybodyHas } from './anybody-has.ts'
import { takeRates } from './money/model-rates.ts'
import { stopLatched } from './money/stop-latched.ts'

/**
 * Lets agents that have spent as much as they may come to rest. That they have is seen where a call is charged and where
 * one begins; a latch remembers it. Takes what models cost, which agents under a ceiling wait for before their first step.
 *
 * Query: CostCeiling; Outcome. Writes: ModelRates, RatesAwaited, CostCeiling, Outcome, and what ending a turn writes.
 */
export const costCeiling = {
  name: 'cost-ceiling',
  priority: -10,
  run(world: World): void {
    takeRates(world)
    // Who has come to rest is not looked at any more, however many have.
    if (!anybodyHas(world, CostCeiling)) return
    const moving = [...world.query(CostCeiling, Turn), ...world.query(CostCeiling, Unread)]
    for (const agent of new Set(moving)) stopLatched(world, agent)
  },
}
