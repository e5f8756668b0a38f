import { Busy } from '../components/busy.ts'
import { LastStep } from '../components/last-step.ts'
import { defaultLimits, Limits } from '../components/limits.ts'
import { Paused } from '../components/paused.ts'
import { Unread } from '../components/unread.ts'
import { not } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'
import { endTurn } from './end-turn.ts'

/**
 * Ends turns that have used up their steps. The calls of the last step have run and are answered by then.
 *
 * Query: LastStep, Unread. Writes: what ending a turn writes.
 */
export const limits = {
  name: 'limits',
  priority: -3,
  run(world: World): void {
    for (const agent of world.query(LastStep, Unread, not(Busy), not(Paused))) {
      const maxSteps = world.get(agent, Limits)?.maxSteps ?? defaultLimits.maxSteps
      const message = `Step limit reached (${maxSteps})`
      endTurn(world, agent, { stop: 'max-steps', failure: { kind: 'step-limit', message } })
    }
  },
}
