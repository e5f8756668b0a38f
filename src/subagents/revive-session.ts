import { Ancestry, SessionEnd, SlotReleased, SlotRequest } from '../../components/ancestry.ts'
import { Conversation } from '../../components/conversation.ts'
import { Delegated, DelegationLimits } from '../../components/delegation-limits.ts'
import { LastStep } from '../../components/last-step.ts'
import { LastTurn } from '../../components/last-turn.ts'
import type { SubagentSessionData } from '../../components/subagent-session.ts'
import { Turn } from '../../components/turn.ts'
import { Usage } from '../../components/usage.ts'
import { textOf } from '../models/text-of.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { nothingDelegated } from './grants.ts'

type Above = readonly { readonly kind: SubagentSessionData['kind']; readonly sessionId: string }[]

/** Makes a copy of an ended session's World the World of another one, which goes on where the first was left, with all counts anew. */
export function reviveSession(world: World, { kind, sessionId }: SubagentSessionData, above: Above): void {
  const [agent] = world.core.state.holders(Ancestry)
  if (agent === undefined) return
  world.set(agent, Ancestry, { sessions: [...above, { kind, sessionId }] })
  const hasItsWord = !reopenTurn(world, agent)
  for (const request of world.core.state.holders(SlotRequest)) world.despawn(request)
  for (const token of [DelegationLimits, LastStep, SessionEnd, SlotReleased, Usage]) world.remove(agent, token)
  if (!hasItsWord) world.remove(agent, LastTurn)
  const { finished, launched } = world.get(agent, Delegated) ?? nothingDelegated
  if (launched > 0) world.set(agent, Delegated, { ...nothingDelegated, finished, launched })
}

/**
 * What closed a turn that did not end well is taken back, and so is an answer without a word in it: the model goes on from
 * before. False: the turn had ended well, and only what came of it was lost.
 */
function reopenTurn(world: World, agent: Entity): boolean {
  if (world.has(agent, Turn)) {
    world.patch(agent, Turn, { steps: 0 })
    return true
  }
  const last = world.get(agent, Conversation)?.at(-1)
  if (last?.role !== 'assistant') return true
  const hasEndedWell = world.get(agent, LastTurn)?.stop === 'done'
  const hasWords = textOf(last).trim() !== ''
  if (hasEndedWell && hasWords) return false
  if (last.model === undefined || !hasWords) {
    world.splice(agent, Conversation, world.read(agent, Conversation).length - 1, 1, [])
  }
  return true
}
