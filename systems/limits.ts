import { Busy } from '../components/busy.ts'
import { Conversation } from '../components/conversation.ts'
import { defaultLimits, Limits } from '../components/limits.ts'
import { Llm } from '../components/llm.ts'
import { Paused } from '../components/paused.ts'
import { Terminal } from '../components/terminal.ts'
import { Turn } from '../components/turn.ts'
import { Unread } from '../components/unread.ts'
import { not } from '../src/world/entities.ts'
import type { World } from '../src/world/world.ts'
import { endTurn } from './end-turn.ts'

/**
 * Ends turns that have used up their steps. The calls of the last step have run and are answered by then.
 *
 * Query: Llm, Conversation, Unread. Writes: what ending a turn writes.
 */
export const limits = {
  name: 'limits',
  priority: -1,
  run(world: World): void {
    for (const agent of world.query(Llm, Conversation, Unread, not(Busy), not(Paused), not(Terminal))) {
      const maxSteps = world.get(agent, Limits)?.maxSteps ?? defaultLimits.maxSteps
      if ((world.get(agent, Turn)?.steps ?? 0) < maxSteps) continue
      const message = `Step limit reached (${maxSteps})`
      endTurn(world, agent, { stop: 'max-steps', failure: { kind: 'step-limit', message } })
    }
  },
}
