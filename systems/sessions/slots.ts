import { Ancestry, SessionEnd, SlotReleased, SlotRequest } from '../../components/sessions/ancestry.ts'
import { ArchiveJob } from '../../components/context/archive.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Inspection } from '../../components/agent/policy.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Busy, Paused, StepStopped, Terminal } from '../../components/agent/agent-tags.ts'
import { SideCall } from '../../components/effects/model-call.ts'
import { SubagentWait } from '../../components/sessions/subagent-wait.ts'
import { Approval } from '../../components/agent/tool-call.ts'
import { Turn } from '../../components/agent/turn.ts'
import { awaitedByAgent } from '../../src/rules/waiting/awaited-in.ts'
import { lendsSlot } from '../../src/rules/waiting/awaited.ts'
import type { Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { activeSessions } from './end-session.ts'
import { emit } from '../kit.ts'

/**
 * In a session's world: releases its slot while the agent only waits for its own sessions or for a person, and requests one
 * when it can go on.
 * Writes: SlotReleased, SlotRequest. Starts: slot.
 */
export const slots = {
  name: 'slots',
  priority: 12,
  wakes: [Ancestry],
  run(world: World): void {
    for (const agent of world.query(Ancestry, not(SessionEnd))) {
      if (!world.has(agent, SlotReleased)) {
        if (!onlyWaits(world, agent)) continue
        world.add(agent, SlotReleased)
        emit(world, 'slot-released', { agent })
      } else if (canGoOn(world, agent) && world.query(SlotRequest).length === 0) {
        world.spawn(SlotRequest, Pending, Effect({ attempt: 1, kind: 'slot', restart: 'pure' }))
      }
    }
  },
}

/** Does a released agent lack only a slot? */
function canGoOn(world: World, agent: Entity): boolean {
  // A person's answer, and what an inspection found, are taken with a slot: the call may run then.
  const isDecided = (owned: Entity): boolean => world.has(owned, Approval) || world.has(owned, Inspection)
  if (world.referrers(OwnedBy, agent).some((owned) => isDecided(owned) && world.has(owned, Outcome))) return true
  const isReady = [Llm, Conversation, Unread].every((token) => world.has(agent, token))
  return isReady && ![Busy, Paused, StepStopped, SubagentWait, Terminal].some((token) => world.has(agent, token))
}

function onlyWaits(world: World, agent: Entity): boolean {
  // A turn is being archived, or its model is called beside its steps.
  const isStillAtWork = world.isReferred(ArchiveJob, agent) || world.isReferred(SideCall, agent)
  const open = awaitedByAgent(world, agent)
  if (isStillAtWork || !open.every(lendsSlot)) return false
  if (open.length > 0 || world.has(agent, SubagentWait)) return true
  return !world.has(agent, Turn) && !world.has(agent, Unread) && activeSessions(world, agent).length > 0
}
