import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Busy, LastStep, Paused } from '../../components/agent/agent-tags.ts'
import { defaultLimits, Limits } from '../../components/agent/turn.ts'
import { Notified } from '../../components/sessions/subagent-wait.ts'
import { Unread } from '../../components/agent/conversation.ts'
import type { Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn, type TurnEnd } from './end-turn.ts'
import { spentGrant } from '../sessions/delegation.ts'

/**
 * Ends turns that have used up their steps, and those of sessions that have spent their grants. The calls of the last
 * step are answered by then.
 * Writes: what ending a turn writes.
 */
export const limits = {
  name: 'limits',
  priority: -3,
  wakes: [
    [LastStep, Unread],
    [Ancestry, Unread],
  ],
  run(world: World): void {
    for (const agent of world.query(LastStep, Unread, not(Busy), not(Paused))) {
      const maxSteps = world.get(agent, Limits)?.maxSteps ?? defaultLimits.maxSteps
      const message = `Step limit reached (${maxSteps})`
      endLate(world, agent, { stop: 'max-steps', failure: { kind: 'step-limit', message } })
    }
    for (const agent of world.query(Ancestry, Unread, not(Busy), not(Paused))) {
      const failure = spentGrant(world, agent)
      if (failure !== undefined) endLate(world, agent, { stop: 'budget-spent', failure })
    }
  },
}

/** Ends a turn after the wait system has run: pending notifications need another tick. */
function endLate(world: World, agent: Entity, end: TurnEnd): void {
  endTurn(world, agent, end)
  if (world.has(agent, Notified)) world.requestTick()
}
