import { SessionEnd, SlotReleased } from '../../../components/ancestry.ts'
import { Busy } from '../../../components/busy.ts'
import { Due } from '../../../components/due.ts'
import { Effect } from '../../../components/effect.ts'
import { LastTurn } from '../../../components/last-turn.ts'
import { Llm } from '../../../components/llm.ts'
import { OwnedBy } from '../../../components/owned-by.ts'
import { Pending } from '../../../components/pending.ts'
import { Running } from '../../../components/running.ts'
import { Answering, AwaitingReply, AwaitingSession, SessionQuery } from '../../../components/session-call.ts'
import { ActiveFor, SubagentSession } from '../../../components/subagent-session.ts'
import { EndedInWait, Notified, SubagentWait } from '../../../components/subagent-wait.ts'
import { Terminal } from '../../../components/terminal.ts'
import { AwaitingApproval, Requested, ToolCall } from '../../../components/tool-call.ts'
import { Turn } from '../../../components/turn.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type Finding, type Law, removedIn, setIn, type WatchedTick } from '../law.ts'
import { stuckAgent, stuckEffect, stuckQuestions, stuckSession, stuckStep, stuckUnread } from './waiting.ts'

/** What a law remembers of one world: what goes away tells no more whose it was. */
interface Waits {
  readonly owners: Map<Entity, Entity>
  /** Open questions: the sessions that they are put to, and the calls that wait for the replies. */
  readonly questions: Map<Entity, Question>
  /** Agents that are looked at once more: their world has asked for another tick. */
  again: readonly Entity[]
}

interface Question {
  readonly session: Entity
  readonly call?: Entity | undefined
}

/** With these taken away, something else has to be there for whoever waited. */
const takenFromEffects = [AwaitingApproval, AwaitingReply, AwaitingSession, Answering, Due, Pending, Requested, Running]
const setOnEffects = [AwaitingReply, AwaitingSession, Answering, Effect]
const takenFromAgents = [Busy, SubagentWait, Terminal, Turn]
const setOnAgents = [Busy, LastTurn, Notified, SlotReleased, SubagentWait]

/** Whatever waits has somebody or something that it waits for; and at the end of a run nothing waits at all. */
export const nothingWaitsInVain: Law = {
  name: 'nothing-waits-in-vain',
  meaning: 'Nothing waits for what cannot come.',
  watch() {
    const worlds = new Map<string, Waits>()
    return {
      began({ label, world }) {
        const { state } = world.core
        const owners = state.holders(OwnedBy).map((owned) => [owned, world.read(owned, OwnedBy).agent] as const)
        const questions = state.holders(SessionQuery).map((asked) => [asked, world.read(asked, SessionQuery)] as const)
        worlds.set(label, { owners: new Map(owners), questions: new Map(questions), again: [] })
      },
      ticked(tick) {
        const waits = worlds.get(tick.label)
        return waits && (effects(tick) ?? agents(tick, waits))
      },
      finished(all) {
        for (const { label, path, world } of all.values()) {
          // A session that was stopped stands still, so that another one could go on from there.
          if (path.length > 0 && world.core.state.holders(SessionEnd).length === 0) continue
          const finding = stillOpen(world)
          if (finding !== undefined) return `all is over, and in ${label} ${finding}`
        }
        return undefined
      },
    }
  },
}

function effects(tick: WatchedTick): Finding {
  const { world } = tick
  for (const token of takenFromEffects) {
    for (const entity of removedIn(tick, token)) {
      const finding = stuckEffect(world, entity)
      if (finding !== undefined) return finding
    }
  }
  for (const token of setOnEffects) {
    for (const [entity] of tick.step.delta.set?.[token.name] ?? []) {
      const finding = stuckEffect(world, entity)
      if (finding !== undefined) return finding
    }
  }
  for (const [session] of setIn(tick, SubagentSession)) {
    const finding = stuckSession(world, session)
    if (finding !== undefined) return finding
  }
  return undefined
}

function agents(tick: WatchedTick, waits: Waits): Finding {
  const { world } = tick
  const touched = touchedIn(tick, waits)
  const isLater = tick.step.again === true
  waits.again = []
  if (touched.size === 0) return undefined
  for (const agent of touched) {
    if (!world.exists(agent)) continue
    const finding = stuckStep(world, agent)
    if (finding !== undefined) return finding
    const sleeps = stuckAgent(world, agent)
    if (sleeps !== undefined && !isLater) return sleeps
  }
  if (isLater) waits.again = [...touched]
  return asked(tick, waits)
}

/** Agents whose step, sleep, news or slot this tick has to do with. */
function touchedIn(tick: WatchedTick, { again, owners }: Waits): ReadonlySet<Entity> {
  const touched = new Set(again)
  const { delta } = tick.step
  for (const [entity, { agent }] of setIn(tick, OwnedBy)) owners.set(entity, agent)
  for (const entity of delta.despawned ?? []) {
    const owner = owners.get(entity)
    if (owner === undefined) continue
    owners.delete(entity)
    touched.add(owner)
  }
  for (const token of takenFromAgents) for (const agent of removedIn(tick, token)) touched.add(agent)
  for (const token of setOnAgents) for (const [agent] of delta.set?.[token.name] ?? []) touched.add(agent)
  for (const [, { parent }] of setIn(tick, SubagentSession)) touched.add(parent)
  for (const [, { agent }] of setIn(tick, EndedInWait)) touched.add(agent)
  return touched
}

/** Questions that were put, answered or taken back. */
function asked(tick: WatchedTick, { questions }: Waits): Finding {
  const rows = setIn(tick, SessionQuery)
  if (rows.length === 0 && questions.size === 0) return undefined
  const { world } = tick
  const sessions = new Set<Entity>()
  for (const [question, put] of rows) {
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
  for (const session of sessions) {
    const finding = stuckQuestions(world, session)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** At the end of a run: whatever still waits in a world. */
function stillOpen(world: World): Finding {
  const { state } = world.core
  for (const token of [Pending, Running, Due]) {
    const [effect] = state.holders(token)
    if (effect !== undefined) return `the ${world.get(effect, Effect)?.kind} effect ${effect} is open`
  }
  const [call] = state.holders(ToolCall)
  if (call !== undefined) return `call ${call} of '${world.read(call, ToolCall).name}' is open`
  const [session] = state.holders(ActiveFor)
  if (session !== undefined) return `session ${world.read(session, SubagentSession).sessionId} is active`
  const [waiting] = state.holders(SubagentWait)
  if (waiting !== undefined) return `agent ${waiting} waits for its sessions`
  const [busy] = state.holders(Busy)
  if (busy !== undefined) return `agent ${busy} is busy`
  for (const agent of state.holders(Llm)) {
    const finding = stuckAgent(world, agent) ?? stuckUnread(world, agent)
    if (finding !== undefined) return finding
  }
  return undefined
}
