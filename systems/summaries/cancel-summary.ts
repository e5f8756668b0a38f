import { CheckpointPending } from '../../components/checkpoint-pending.ts'
import { SideCall } from '../../components/side-call.ts'
import { Summarizing } from '../../components/step-held.ts'
import { SummaryTask } from '../../components/summary-task.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { holdStep } from '../hold-step.ts'
import { endCall } from '../money/charge-call.ts'
import { answerRequests } from './answer-requests.ts'

/** The call by which a text is being written that an agent's next step waits for. At most one. */
export function summaryUnderWay(world: World, agent: Entity): Entity | undefined {
  if (!world.has(agent, Summarizing)) return undefined
  return world.referrers(SideCall, agent).find((effect) => world.has(effect, SummaryTask))
}

/**
 * A person has stopped it. That is no failure: what called for it still stands, except what a program has asked for, which
 * is told.
 */
export function cancelSummary(world: World, agent: Entity, message: string): void {
  const effect = summaryUnderWay(world, agent)
  if (effect === undefined) return
  const { by, kind, note, requests } = world.read(effect, SummaryTask)
  endCall(world, effect)
  world.remove(agent, Summarizing)
  holdStep(world, agent)
  if (kind === 'checkpoint' && by === 'model' && !world.has(agent, CheckpointPending)) {
    world.set(agent, CheckpointPending, { by, note, requests: [] })
  }
  answerRequests(world, agent, requests, { skipped: false, failure: { kind: 'cancelled', message } })
}
