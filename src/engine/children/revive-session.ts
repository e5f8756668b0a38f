import {
  Ancestry,
  SessionEnd,
  SessionStopped,
  SlotReleased,
  SlotRequest,
  type WorldKind,
} from '../../../components/sessions/ancestry.ts'
import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Delegated, DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import { Effect, OwnedBy } from '../../../components/effects/effect.ts'
import { AskedAgain } from '../../../components/context/holder.ts'
import { LastQuestion } from '../../../components/sessions/session-call.ts'
import { LastStep } from '../../../components/agent/agent-tags.ts'
import { LastTurn, Limits, Turn } from '../../../components/agent/turn.ts'
import {
  ReportedUsage,
  SubagentSession,
  type SubagentSessionData,
} from '../../../components/sessions/subagent-session.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { Permissions } from '../../../components/agent/tool-registry.ts'
import { SystemPrompt } from '../../../components/agent/system-prompt.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import { Usage, UsageBeside } from '../../../components/money/usage.ts'
import { textOf } from '../../rules/projection/text-of.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { inheritPolicy, type InheritedPolicy } from '../../rules/policy/inherited-policy.ts'
import { isUnsettled } from '../../rules/delegation/unsettled-sessions.ts'
import { deniedBesides } from '../../rules/delegation/permissions.ts'
import { nothingDelegated, reserved, type Wanted } from '../../rules/delegation/grants.ts'

type Named = { readonly kind: WorldKind; readonly sessionId: string }
type Revived = Named & Pick<SubagentSessionData, 'denied'>

/**
 * Turns a copy of an ended session's World into that of another one, which continues it with all counts at zero.
 * @param inherited of the agent that resumes it
 * @param blueprint of the other: its notice about the background and its grants of tools denied by now count
 */
export function reviveSession(
  world: World,
  { denied, kind, sessionId }: Revived,
  { above, policy }: { readonly above: readonly Named[]; readonly policy: InheritedPolicy | undefined },
  { ending, permissions }: Pick<BlueprintData, 'ending' | 'permissions'>,
): void {
  const [agent] = world.entitiesWith(Ancestry)
  if (agent === undefined) return
  keepKeys(world, world.read(agent, Ancestry).sessions.at(-1)?.sessionId)
  world.set(agent, Ancestry, { sessions: [...above, { kind, sessionId }] })
  const prompt = world.get(agent, SystemPrompt)
  if (prompt !== undefined && prompt.ending !== ending) world.patch(agent, SystemPrompt, { ending })
  denyAlso(world, agent, denied, permissions?.granted)
  inheritPolicy(world, agent, policy)
  for (const request of world.entitiesWith(SlotRequest)) world.despawn(request)
  leaveSpending(world, agent)
  const own = [
    AskedAgain,
    DelegationLimits,
    LastQuestion,
    LastStep,
    SessionEnd,
    SessionStopped,
    SlotReleased,
    Usage,
    UsageBeside,
  ]
  for (const token of own) world.remove(agent, token)
  if (reopenTurn(world, agent)) world.remove(agent, LastTurn)
  const { finished, holders, launched } = world.get(agent, Delegated) ?? nothingDelegated
  if (launched === 0) return
  const known = holders === undefined ? {} : { holders }
  const counts = { ...nothingDelegated, finished, ...known, launched, launchedBefore: launched }
  world.set(agent, Delegated, openGrants(world, agent).reduce(reserved, counts))
}

/** A `keyed` call that was under way is the same call when it runs again here: a service is to know it by its key. */
function keepKeys(world: World, first: string | undefined): void {
  if (first === undefined) return
  for (const call of world.entitiesWith(ToolCall)) {
    const effect = world.get(call, Effect)
    if (effect?.restart !== 'keyed' || effect.key !== undefined) continue
    world.patch(call, Effect, { key: `${first}/${call}` })
  }
}

/** It keeps its own permissions, and is denied what is denied above it by now. */
function denyAlso(
  world: World,
  agent: Entity,
  denied: readonly string[] | undefined,
  granted: readonly string[] | undefined,
): void {
  const { granted: _, ...own } = world.get(agent, Permissions) ?? {}
  const all = deniedBesides(own, denied)
  if (all?.denied !== undefined) world.set(agent, Permissions, { ...all, ...(granted !== undefined && { granted }) })
}

/** Sessions that have ended tell the World that is continued what they have spent: it counts there. */
function leaveSpending(world: World, agent: Entity): void {
  for (const session of world.referrers(SubagentSession, agent)) {
    if (!isUnsettled(world.read(session, SubagentSession))) continue
    world.remove(session, ReportedUsage)
    world.patch(session, SubagentSession, { grant: undefined, usage: { calls: 0, sessions: 0 } })
  }
}

/** Grants of sessions that go on too: each returns its own. */
function openGrants(world: World, agent: Entity): readonly Wanted[] {
  return world.referrers(SubagentSession, agent).flatMap((session) => world.read(session, SubagentSession).grant ?? [])
}

/** Removes the end of a failed turn, and an empty answer: the model continues before that. False: it had ended well. */
function reopenTurn(world: World, agent: Entity): boolean {
  if (world.has(agent, Turn)) {
    countSteps(world, agent)
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

/** A model call that was stopped is made again: it is the first step of those that are counted anew. */
function countSteps(world: World, agent: Entity): void {
  const isAsking = world.referrers(OwnedBy, agent).some((effect) => world.has(effect, ModelCall))
  world.patch(agent, Turn, { steps: isAsking ? 1 : 0 })
  if (isAsking && world.get(agent, Limits)?.maxSteps === 1) world.add(agent, LastStep)
}
