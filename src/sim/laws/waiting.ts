import { Ancestry, SessionEnd, SlotReleased, SlotRequest } from '../../../components/sessions/ancestry.ts'
import { Approval, AwaitingApproval, Requested, ToolCall } from '../../../components/agent/tool-call.ts'
import {
  AllowanceAwaited,
  Busy,
  Paused,
  RatesAwaited,
  StepStopped,
  Summarizing,
  Terminal,
} from '../../../components/agent/agent-tags.ts'
import { AwaitingJudgement, Inspection } from '../../../components/agent/policy.ts'
import { Ceilings, CostCeiling } from '../../../components/money/ceilings.ts'
import { Conversation, Unread } from '../../../components/agent/conversation.ts'
import { Due, Effect, Outcome, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { LastTurn, Turn } from '../../../components/agent/turn.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { AllowanceCall } from '../../../components/money/metered.ts'
import { ModelCall, SideCall } from '../../../components/effects/model-call.ts'
import { Answering, AwaitingReply, AwaitingSession, SessionQuery } from '../../../components/sessions/session-call.ts'
import {
  EndedInWait,
  Notified,
  SubagentWait,
  UnreadBy,
  WaitDeadline,
} from '../../../components/sessions/subagent-wait.ts'
import { subagentDefaults, SubagentRegistry } from '../../../components/sessions/subagent-registry.ts'
import { ActiveFor, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { SummaryTask } from '../../../components/context/boundary.ts'
import { WatchdogLatch } from '../../../components/agent/watchdog-state.ts'
import type { Component, DataOf, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding } from '../law.ts'

/** Effects whose outcome the standard systems take in the tick in which it arrives. */
const takenAtOnce = new Set(['allowance', 'approval', 'model', 'query', 'rates', 'session', 'slot', 'subtask', 'timer'])

export function stuckEffect(world: World, entity: Entity): Finding {
  if (world.has(entity, ToolCall)) return stuckCall(world, entity)
  const effect = world.get(entity, Effect)
  if (effect === undefined || isUnderWay(world, entity)) return undefined
  if (!world.has(entity, Outcome)) return `the ${effect.kind} effect ${entity} is neither under way nor settled`
  return takenAtOnce.has(effect.kind) && !isTakenWithSlot(world, entity)
    ? `no system takes the outcome of the ${effect.kind} effect ${entity}`
    : undefined
}

/** A session without a slot asks for one before it takes a person's answer. */
function isTakenWithSlot(world: World, entity: Entity): boolean {
  const agent = world.has(entity, Approval) ? world.get(entity, OwnedBy)?.agent : undefined
  return agent !== undefined && world.has(agent, SlotReleased) && world.entitiesWith(SlotRequest).length > 0
}

function stuckCall(world: World, call: Entity): Finding {
  const { name } = world.read(call, ToolCall)
  const awaited = world.get(call, AwaitingSession)?.session
  if (awaited !== undefined) {
    if (isActive(world, awaited)) return undefined
    return `call ${call} of '${name}' waits for session entity ${awaited}, which has ended`
  }
  if (world.has(call, AwaitingReply)) {
    return isAsking(world, call) ? undefined : `call ${call} of '${name}' waits for a reply, and no question is open`
  }
  if (world.has(call, Answering) && !isUnderWay(world, call)) {
    return `the answer of call ${call} of '${name}' is not whole, and nothing is under way for it`
  }
  if (isUnderWay(world, call) || world.has(call, Outcome) || world.has(call, Requested)) return undefined
  const agent = world.get(call, OwnedBy)?.agent
  if (world.has(call, AwaitingJudgement)) {
    if (agent !== undefined && owns(world, agent, Inspection)) return undefined
    return `call ${call} of '${name}' waits to be judged, and nothing is inspected`
  }
  if (!world.has(call, AwaitingApproval))
    return `nothing is under way for call ${call} of '${name}', and it has no result`
  return agent !== undefined && owns(world, agent, Approval)
    ? undefined
    : `call ${call} of '${name}' waits for an approval, and none is asked for`
}

/** A call that changes the world in a tick, and has nothing under way outside. */
export function isOfWorldTool(world: World, call: Entity): boolean {
  const agent = world.get(call, OwnedBy)?.agent
  const name = world.get(call, ToolCall)?.name
  const tools = agent === undefined ? undefined : world.get(agent, ToolRegistry)?.tools
  return tools?.some((tool) => tool.name === name && tool.world === true) === true
}

function isAsking(world: World, call: Entity): boolean {
  const agent = world.get(call, OwnedBy)?.agent
  if (agent === undefined) return false
  return world.referrers(OwnedBy, agent).some((owned) => world.get(owned, SessionQuery)?.call === call)
}

function owns(world: World, agent: Entity, token: Component): boolean {
  return world.referrers(OwnedBy, agent).some((owned) => world.has(owned, token))
}

function isUnderWay(world: World, entity: Entity): boolean {
  return world.has(entity, Pending) || world.has(entity, Running) || world.has(entity, Due)
}

function isActive(world: World, session: Entity): boolean {
  const status = world.get(session, SubagentSession)?.status
  return status === 'queued' || status === 'running'
}

export function stuckSession(world: World, session: Entity): Finding {
  const record = world.get(session, SubagentSession)
  if (record === undefined) return undefined
  const { parent, sessionId, status } = record
  if (!isActive(world, session)) {
    const left = [ActiveFor, Effect, Outcome, Pending, Running].find((token) => world.has(session, token))
    if (left !== undefined) return `session ${sessionId} is ${status}, and still has ${left.name}`
    const call = world.referrers(AwaitingSession, session)[0]
    return call === undefined ? undefined : `call ${call} still waits for session ${sessionId}, which is ${status}`
  }
  const wanted = status === 'queued' ? Pending : Running
  const lacks = [Effect, wanted].find((token) => !world.has(session, token))
  if (lacks !== undefined)
    return `session ${sessionId} is ${status}, and nothing is under way for it: it has no ${lacks.name}`
  if (world.get(session, ActiveFor)?.agent === parent) return undefined
  return `session ${sessionId} is ${status}, and agent ${parent} does not know it as active`
}

export function stuckQuestions(world: World, session: Entity): Finding {
  const asked = world.referrers(SessionQuery, session)
  const open = asked.find((question) => world.get(question, SessionQuery)?.reply === undefined)
  if (open === undefined || world.has(open, Effect)) return undefined
  return `question ${open} to session entity ${session} is first in the queue, and is not asked`
}

/** A step that does not go on: nothing of it is open, or the first result in line is not taken. */
export function stuckStep(world: World, agent: Entity): Finding {
  if (!world.has(agent, Busy)) return undefined
  const owned = world.referrers(OwnedBy, agent)
  const first = owned.find((entity) => world.has(entity, ToolCall))
  if (first === undefined) {
    if (owned.some((entity) => world.has(entity, ModelCall))) return undefined
    return `agent ${agent} is busy, and nothing of its step is open`
  }
  const isForOthers = world.has(first, AwaitingSession) || world.has(first, Answering)
  if (!world.has(first, Outcome) || isForOthers) return undefined
  return `agent ${agent} is busy, and no system takes the result of call ${first}, the first that is open`
}

/** An agent that waits for a summary that is not being written, or works while one is. */
export function stuckSummary(world: World, agent: Entity): Finding {
  if (!world.has(agent, Summarizing)) return undefined
  if (world.has(agent, Busy)) return `agent ${agent} takes a step while a summary of it is being written`
  const isWritten = world.referrers(SideCall, agent).some((call) => world.has(call, SummaryTask))
  return isWritten ? undefined : `agent ${agent} waits for a summary that is not being written`
}

export function stuckAgent(world: World, agent: Entity): Finding {
  if (world.has(agent, Busy) || world.has(agent, Terminal)) return undefined
  if (isWithoutAllowance(world, agent)) return `agent ${agent} waits for its parent's budget, and no request is open`
  const wait = world.get(agent, SubagentWait)
  if (wait !== undefined) {
    if (isSatisfied(world, agent, wait)) return `agent ${agent} sleeps, and what it waits for is there`
    if (wait.deadlineMs === null || owns(world, agent, WaitDeadline)) return undefined
    return `agent ${agent} sleeps until ${wait.deadlineMs} ms, and no timer is set`
  }
  if (world.has(agent, Notified) && canBeNotified(world, agent))
    return `agent ${agent} has unread notifications, and is not notified`
  return world.has(agent, SlotReleased) ? stuckWithoutSlot(world, agent) : undefined
}

const holds = [AllowanceAwaited, CostCeiling, RatesAwaited, Summarizing, WatchdogLatch]
const notReady = [Busy, Paused, SlotReleased, StepStopped, SubagentWait, Terminal, ...holds]

export function stuckUnread(world: World, agent: Entity): Finding {
  if (![Llm, Conversation, Unread].every((token) => world.has(agent, token))) return undefined
  if (notReady.some((token) => world.has(agent, token))) return undefined
  return `agent ${agent} has something to answer, and takes no step`
}

/** An idle agent whose conversation ends unanswered, whatever its tags say. */
export function stuckConversation(world: World, agent: Entity): Finding {
  if ([Paused, StepStopped, SubagentWait, Terminal].some((token) => world.has(agent, token))) return undefined
  const role = world.get(agent, Conversation)?.at(-1)?.role
  if (role !== 'user' && role !== 'tool') return undefined
  return `the conversation of agent ${agent} ends in what it has not answered`
}

type WaitData = DataOf<() => typeof SubagentWait.schema>

function isSatisfied(world: World, agent: Entity, { mode, sessions, watched }: WaitData): boolean {
  const named = sessions ?? watched
  if (mode === 'all') return (named ?? []).every((session) => !isActive(world, session))
  const hasNews = (session: Entity): boolean =>
    !isActive(world, session) && world.get(session, SubagentSession)?.status !== 'cancelled'
  if (named !== undefined) return named.some(hasNews) || named.every((session) => !isActive(world, session))
  if (world.referrers(UnreadBy, agent).length > 0 || world.referrers(EndedInWait, agent).some(hasNews)) return true
  const active = world.referrers(ActiveFor, agent)
  return active.every((session) => world.get(session, SubagentSession)?.mode !== 'background')
}

function isWithoutAllowance(world: World, agent: Entity): boolean {
  if (!world.has(agent, AllowanceAwaited) || world.has(agent, SessionEnd)) return false
  return !owns(world, agent, AllowanceCall)
}

/** Before a step, or when the turn is over and did not fail. */
function canBeNotified(world: World, agent: Entity): boolean {
  // A stopped agent is notified when it resumes.
  if (world.has(agent, CostCeiling) || world.has(agent, WatchdogLatch)) return false
  if (world.has(agent, Unread)) return true
  if (world.has(agent, Turn)) return false
  const stop = world.get(agent, LastTurn)?.stop
  if (stop === 'failed' || stop === 'cancelled') return false
  if (stop === 'budget-spent' && !world.has(agent, Ceilings)) return false
  return world.get(agent, SubagentRegistry)?.wakeIdle ?? subagentDefaults.wakeIdle
}

function stuckWithoutSlot(world: World, agent: Entity): Finding {
  if (world.has(agent, SessionEnd) || world.has(agent, Paused)) return undefined
  if (world.referrers(ActiveFor, agent).length > 0) return undefined
  if (world.has(agent, Ancestry) && world.entitiesWith(SlotRequest).length > 0) return undefined
  return `agent ${agent} has given its slot back, has no session that is active, and asks for no other slot`
}
