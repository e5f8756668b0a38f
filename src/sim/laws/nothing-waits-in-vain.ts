import { SessionEnd, SlotReleased } from '../../../components/sessions/ancestry.ts'
import { Busy, Summarizing, Terminal } from '../../../components/agent/agent-tags.ts'
import { Due, Effect, OwnedBy, Pending, Running } from '../../../components/effects/effect.ts'
import { Unsettled } from '../../../components/context/holder.ts'
import { LastTurn, Turn } from '../../../components/agent/turn.ts'
import { Llm } from '../../../components/agent/llm.ts'
import {
  Answering,
  AwaitingReply,
  AwaitingSession,
  SessionQuery,
  type SessionQueryData,
} from '../../../components/sessions/session-call.ts'
import { ActiveFor, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { EndedInWait, Notified, SubagentWait } from '../../../components/sessions/subagent-wait.ts'
import { AwaitingJudgement } from '../../../components/agent/policy.ts'
import { AwaitingApproval, Requested, ToolCall } from '../../../components/agent/tool-call.ts'
import type { Component, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { firstFinding } from './first-finding.ts'
import {
  stuckAgent,
  stuckConversation,
  stuckEffect,
  stuckQuestions,
  stuckSession,
  stuckStep,
  stuckSummary,
  stuckUnread,
  isOfWorldTool,
} from './waiting.ts'

interface Waits {
  readonly owners: Map<Entity, Entity>
  readonly questions: Map<Entity, SessionQueryData>
  readonly touched: Set<Entity>
  /** Agents that seem stuck in a world that requested another tick: they are checked again after it. */
  readonly deferred: Set<Entity>
}

/** When one of these is removed, something else must continue the work. */
const takenFromEffects = namesOf(AwaitingReply, AwaitingSession, Answering, Due, Pending, Running)
/** When one of these is removed from a call, it is decided what becomes of the call. */
const decisions = namesOf(AwaitingApproval, AwaitingJudgement, Requested)
const setOnEffects = namesOf(AwaitingReply, AwaitingSession, Answering, Effect)
const takenFromAgents = namesOf(Busy, SubagentWait, Summarizing, Terminal, Turn)
const setOnAgents = namesOf(Busy, LastTurn, Notified, SlotReleased, SubagentWait, Summarizing)
export const nothingWaitsInVain: Law = {
  name: 'nothing-waits-in-vain',
  meaning: 'Nothing waits for what cannot come.',
  watch() {
    const worlds = new Map<string, Waits>()
    return {
      began({ label, world }) {
        const owners = world.entitiesWith(OwnedBy).map((owned) => [owned, world.read(owned, OwnedBy).agent] as const)
        const questions = world
          .entitiesWith(SessionQuery)
          .map((asked) => [asked, world.read(asked, SessionQuery)] as const)
        worlds.set(label, {
          owners: new Map(owners),
          questions: new Map(questions),
          touched: new Set(),
          deferred: new Set(),
        })
      },
      ticked(tick) {
        const waits = worlds.get(tick.label)
        if (waits === undefined) return undefined
        touch(tick, waits)
        return effects(tick) ?? agents(tick, waits) ?? inLine(tick, waits)
      },
      finished(all) {
        const unsettled = new Set<string>()
        for (const { world } of all.values()) {
          for (const session of world.entitiesWith(Unsettled))
            unsettled.add(world.read(session, SubagentSession).sessionId)
        }
        for (const { label, path, world } of all.values()) {
          // A stopped session stays as it is, so that another one can resume it.
          if (path.length > 0 && world.entitiesWith(SessionEnd).length === 0) continue
          // Its parent has tried, and retries when there is something to ask.
          if (unsettled.has(path.at(-1) ?? '')) continue
          const finding = stillOpen(world)
          if (finding !== undefined) return `all is over, and in ${label} ${finding}`
        }
        return undefined
      },
    }
  },
}

function namesOf(...tokens: readonly Component[]): ReadonlySet<string> {
  return new Set(tokens.map(({ name }) => name))
}

function effects({ changes, world }: WatchedTick): Finding {
  let finding: Finding
  for (const { name, removed, set } of changes.all) {
    if (takenFromEffects.has(name)) finding ??= firstFinding(removed, (entity) => stuckEffect(world, entity))
    if (setOnEffects.has(name)) finding ??= firstFinding(set, ([entity]) => stuckEffect(world, entity))
    // A system of the program may answer it in a later tick. At the end of the run it is answered.
    if (decisions.has(name))
      finding ??= firstFinding(removed, (call) => (isOfWorldTool(world, call) ? undefined : stuckEffect(world, call)))
  }
  return finding ?? firstFinding(changes.of(SubagentSession).set, ([session]) => stuckSession(world, session))
}

/**
 * Checks each touched agent once, when the world requests no further tick: a crowd needs many ticks for one step of
 * all.
 */
function agents({ step, world }: WatchedTick, { deferred, touched }: Waits): Finding {
  const isLater = step.again === true
  if (!isLater && deferred.size > 0) {
    for (const agent of deferred) touched.add(agent)
    deferred.clear()
  }
  for (const agent of touched) {
    if (!world.exists(agent)) continue
    // A system of a program may have answered a call, whose result the next tick takes.
    const finding = stuckStep(world, agent) ?? stuckSummary(world, agent) ?? stuckAgent(world, agent)
    if (finding === undefined) continue
    if (!isLater) return finding
    deferred.add(agent)
  }
  touched.clear()
  return undefined
}

function touch({ changes, step }: WatchedTick, { owners, touched }: Waits): void {
  for (const [entity, { agent }] of changes.of(OwnedBy).set) owners.set(entity, agent)
  for (const [, { agent }] of changes.of(EndedInWait).set) touched.add(agent)
  for (const [, { parent }] of changes.of(SubagentSession).set) touched.add(parent)
  for (const { name, removed, set } of changes.all) {
    if (setOnAgents.has(name)) for (const [agent] of set) touched.add(agent)
    if (takenFromAgents.has(name)) for (const agent of removed) touched.add(agent)
  }
  const { despawned } = step.delta
  if (despawned === undefined) return
  for (const entity of despawned) {
    const owner = owners.get(entity)
    if (owner === undefined) continue
    owners.delete(entity)
    touched.add(owner)
  }
}

function inLine(tick: WatchedTick, { questions }: Waits): Finding {
  const asked = tick.changes.of(SessionQuery).set
  if (questions.size === 0 && asked.length === 0) return undefined
  const { world } = tick
  const sessions = new Set<Entity>()
  for (const [question, put] of asked) {
    sessions.add(put.session)
    if (put.reply === undefined) questions.set(question, put)
    else questions.delete(question)
  }
  for (const entity of tick.step.delta.despawned ?? []) {
    const gone = questions.get(entity)
    if (gone === undefined) continue
    questions.delete(entity)
    sessions.add(gone.session)
    const finding = gone.call === undefined ? undefined : stuckEffect(world, gone.call)
    if (finding !== undefined) return finding
  }
  return firstFinding(sessions, (session) => stuckQuestions(world, session))
}

function stillOpen(world: World): Finding {
  for (const token of [Pending, Running, Due]) {
    const [effect] = world.entitiesWith(token)
    if (effect !== undefined) return `the ${world.get(effect, Effect)?.kind} effect ${effect} is open`
  }
  const [call] = world.entitiesWith(ToolCall)
  if (call !== undefined) return `call ${call} of '${world.read(call, ToolCall).name}' is open`
  const [session] = world.entitiesWith(ActiveFor)
  if (session !== undefined) return `session ${world.read(session, SubagentSession).sessionId} is active`
  const [waiting] = world.entitiesWith(SubagentWait)
  if (waiting !== undefined) return `agent ${waiting} waits for its sessions`
  const [held] = world.entitiesWith(Summarizing)
  if (held !== undefined) return `agent ${held} waits for a summary`
  const [busy] = world.entitiesWith(Busy)
  if (busy !== undefined) return `agent ${busy} is busy`
  return firstFinding(
    world.entitiesWith(Llm),
    (agent) => stuckAgent(world, agent) ?? stuckUnread(world, agent) ?? stuckConversation(world, agent),
  )
}
