import { Boundary } from '../../../components/context/boundary.ts'
import { HolderOf, SharedBlock } from '../../../components/context/holder.ts'
import type { Message } from '../../protocol/message.ts'
import { ActiveFor } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import { hasAny } from '../../world/inspection.ts'
import type { World } from '../../world/world.ts'
import { liveSubagentsIn } from './live-subagents.ts'
import { liveState } from './live-state.ts'

const nothing: readonly Message[] = []

/** Is anybody of a world told anything? Mostly nobody has what is told of, and then no agent is looked at. */
function mayBeTold(world: World): boolean {
  return hasAny(world, [Boundary, HolderOf, ActiveFor, SharedBlock])
}

/**
 * What an agent's model is told of what is so right now: made anew for each call, behind the last cache breakpoint, and no
 * part of the shared prefix.
 */
export function liveTail(world: World, agent: Entity): readonly Message[] {
  if (!mayBeTold(world)) return nothing
  const subagents = liveSubagentsIn(world, agent, 'tail')
  const state = liveState(world, agent, subagents?.sessions)
  if (subagents === undefined && state === undefined) return nothing
  const blocks = [subagents?.text, state].filter((block) => block !== undefined)
  return [{ role: 'user', content: [{ type: 'text', text: blocks.join('\n\n') }] }]
}
