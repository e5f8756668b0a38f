import { Ancestry } from '../../components/sessions/ancestry.ts'
import { Archival } from '../../components/context/archival.ts'
import { Context } from '../../components/context/context.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { LastTurn, Turn } from '../../components/agent/turn.ts'
import { Usage } from '../../components/money/usage.ts'
import { Ledger } from '../../components/money/ledger.ts'
import { seqAt } from '../../src/rules/projection/places.ts'
import { unansweredFrom } from '../../src/rules/projection/boundaries.ts'
import type { Entity } from '../../src/world/component.ts'
import { made } from '../../src/world/made.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit.ts'

/**
 * Opens a turn.
 * @param newSteps model calls to count as made in it
 * @returns the steps counted so far
 */
export function openTurn(world: World, agent: Entity, newSteps: number): number {
  // A session's steps are counted over all its turns.
  const stepsBefore = world.has(agent, Ancestry) ? (world.get(agent, LastTurn)?.steps ?? 0) : 0
  const steps = stepsBefore + newSteps
  const opening = openingOf(world, agent)
  const usage = world.get(agent, Usage)
  const used = usage === undefined ? {} : { usedBefore: usage }
  const since = world.nextEntity
  world.add(agent, made(Turn, { ...opening, since, startedAtMs: world.nowMs, steps, toolCalls: 0, ...used }))
  const { turnNanoUsd = 0, turnUnknown = 0 } = world.get(agent, Ledger) ?? {}
  if (turnNanoUsd + turnUnknown > 0) world.patch(agent, Ledger, { turnNanoUsd: 0, turnUnknown: undefined })
  emit(world, 'turn-started', { agent })
  return steps
}

/** The first unanswered message, for agents whose turns may be compacted or archived. */
function openingOf(world: World, agent: Entity): { readonly fromSeq?: number } {
  if (!world.has(agent, Context) && !world.has(agent, Archival)) return {}
  const messages = world.read(agent, Conversation)
  const index = unansweredFrom(messages)
  return { fromSeq: seqAt(world, agent, index < messages.length ? index : messages.length - 1) }
}
