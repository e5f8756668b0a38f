import { Acting } from '../components/acting.ts'
import { defaultLimits, Limits } from '../components/limits.ts'
import { Paused } from '../components/paused.ts'
import { Thinking } from '../components/thinking.ts'
import { Turn } from '../components/turn.ts'
import { Unread } from '../components/unread.ts'
import { not } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'
import { endTurn } from './end-turn.ts'

/**
 * Ends turns that have used up their steps. The calls of the last step have run and are answered by then.
 *
 * Query: Turn, Unread. Writes: what ending a turn writes.
 */
export const limits = {
  name: 'limits',
  priority: -1,
  run(world: World): void {
    for (const agent of world.query(Turn, Unread, not(Thinking), not(Acting), not(Paused))) {
      const maxSteps = world.get(agent, Limits)?.maxSteps ?? defaultLimits.maxSteps
      if (world.read(agent, Turn).steps < maxSteps) continue
      const message = `Step limit reached (${maxSteps})`
      endTurn(world, agent, { stop: 'max-steps', failure: { kind: 'step-limit', message } })
    }
  },
}
