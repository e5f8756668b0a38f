import { SessionEnd, SlotReleased } from '../../../components/ancestry.ts'
import { Busy } from '../../../components/busy.ts'
import { Due } from '../../../components/due.ts'
import { Effect } from '../../../components/effect.ts'
import { Unsettled } from '../../../components/holder.ts'
import { LastTurn } from '../../../components/last-turn.ts'
import { Llm } from '../../../components/llm.ts'
import { OwnedBy } from '../../../components/owned-by.ts'
import { Pending } from '../../../components/pending.ts'
import { Running } from '../../../components/running.ts'
import { Answering, AwaitingReply, AwaitingSession, SessionQuery } from '../../../components/session-call.ts'
import { ActiveFor, SubagentSession } from '../../../components/subagent-session.ts'
import { EndedInWait, Notified, SubagentWait } from '../../../components/subagent-wait.ts'
import { Summarizing } from '../../../components/step-held.ts'
import { Terminal } from '../../../components/terminal.ts'
import { AwaitingApproval, Requested, ToolCall } from '../../../components/tool-call.ts'
import { Turn } from '../../../components/turn.ts'
import type { Component, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { type Finding, type Law, setIn, type WatchedTick } from '../law.ts'
import { bitsOf, removedBits, setBits } from './touched.ts'
import {
  stuckAgent,
  stuckEffect,
  stuckQuestions,
  stuckSession,
  stuckStep,
  stuckSummary,
  stuckUnread,
} from './waiting.ts'

/** What a law remembers of one world: what goes away tells no more whose it was. */
interface Waits {
  readonly owners: Map<Entity, Entity>
  /** Open questions: the sessions that they are put to, and the calls that wait for the replies. */
  readonly questions: Map<Entity, Question>
  /** Agents that are to be looked at. */
  readonly touched: Set<Entity>
}

interface Question {
  readonly session: Entity
  readonly call?: Entity | undefined
}

/** With these taken away, something else has to be there for whoever waited. */
const takenFromEffects = [AwaitingApproval, AwaitingReply, AwaitingSession, Answering, Due, Pending, Requested, Running]
const setOnEffects = [AwaitingReply, AwaitingSession, Answering, Effect]
const takenFromAgents = [Busy, SubagentWait, Summarizing, Terminal, Turn]
const setOnAgents = [Busy, LastTurn, Notified, SlotReleased, SubagentWait, Summarizing]
const bits = {
  takenFromEffects: bitsOf(...takenFromEffects),
  setOnEffects: bitsOf(SubagentSession, ...setOnEffects),
  takenFromAgents: bitsOf(...takenFromAgents),
  setOnAgents: bitsOf(EndedInWait, OwnedBy, SubagentSession, ...setOnAgents),
  queries: bitsOf(SessionQuery),
}

const nameOf = ({ name }: Component): string => name
const names = {
  takenFromEffects: takenFromEffects.map(nameOf),
  setOnEffects: setOnEffects.map(nameOf),
  takenFromAgents: takenFromAgents.map(nameOf),
  setOnAgents: setOnAgents.map(nameOf),
}

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
        worlds.set(label, { owners: new Map(owners), questions: new Map(questions), touched: new Set() })
      },
      ticked(tick) {
        const waits = worlds.get(tick.label)
        return waits && (effects(tick) ?? agents(tick, waits))
      },
      finished(all) {
        const unsettled = new Set([...all.values()].flatMap(({ world }) => unsettledIn(world)))
        for (const { label, path, world } of all.values()) {
          // A session that was stopped stands still, so that another one could go on from there.
          if (path.length > 0 && world.core.state.holders(SessionEnd).length === 0) continue
          // Its parent has tried, and will again when there is something to ask.
          if (unsettled.has(path.at(-1) ?? '')) continue
          const finding = stillOpen(world)
          if (finding !== undefined) return `all is over, and in ${label} ${finding}`
        }
        return undefined
      },
    }
  },
}

/** Sessions that have ended, and whose turns could not all be archived. */
function unsettledIn(world: World): readonly string[] {
  return world.core.state.holders(Unsettled).map((session) => world.read(session, SubagentSession).sessionId)
}

function effects({ step, world }: WatchedTick): Finding {
  const { removed, set } = step.delta
  if ((removedBits(step) & bits.takenFromEffects) !== 0) {
    for (const name of names.takenFromEffects) {
      const taken = removed?.[name]
      if (taken === undefined) continue
      for (const entity of taken) {
        const finding = stuckEffect(world, entity)
        if (finding !== undefined) return finding
      }
    }
  }
  if (set === undefined || (setBits(step) & bits.setOnEffects) === 0) return undefined
  for (const name of names.setOnEffects) {
    const rows = set[name]
    if (rows === undefined) continue
    for (const row of rows) {
      const finding = stuckEffect(world, row[0])
      if (finding !== undefined) return finding
    }
  }
  const records = set[SubagentSession.name]
  if (records === undefined) return undefined
  for (const row of records) {
    const finding = stuckSession(world, row[0])
    if (finding !== undefined) return finding
  }
  return undefined
}

function agents(tick: WatchedTick, waits: Waits): Finding {
  const { world } = tick
  const { touched } = waits
  touch(tick, waits)
  const isLater = tick.step.again === true
  for (const agent of touched) {
    if (!world.exists(agent)) continue
    const finding = stuckStep(world, agent)
    if (finding !== undefined) return finding
    const held = stuckSummary(world, agent)
    if (held !== undefined) return held
    const sleeps = stuckAgent(world, agent)
    if (sleeps !== undefined && !isLater) return sleeps
  }
  // Those of a world that has asked for another tick are looked at once more.
  if (!isLater && touched.size > 0) touched.clear()
  return inLine(tick, waits)
}

/** Notes the agents whose step, sleep, news or slot this tick has to do with. */
function touch({ step }: WatchedTick, { owners, touched }: Waits): void {
  const { despawned, removed, set } = step.delta
  if (set !== undefined && (setBits(step) & bits.setOnAgents) !== 0) {
    const owned = set[OwnedBy.name] as readonly (readonly [Entity, { readonly agent: Entity }])[] | undefined
    if (owned !== undefined) for (const row of owned) owners.set(row[0], row[1].agent)
    for (const name of names.setOnAgents) {
      const rows = set[name]
      if (rows !== undefined) for (const row of rows) touched.add(row[0])
    }
    const ended = set[EndedInWait.name] as typeof owned
    if (ended !== undefined) for (const row of ended) touched.add(row[1].agent)
    const records = set[SubagentSession.name] as readonly (readonly [Entity, { readonly parent: Entity }])[] | undefined
    if (records !== undefined) for (const row of records) touched.add(row[1].parent)
  }
  if (removed !== undefined && (removedBits(step) & bits.takenFromAgents) !== 0) {
    for (const name of names.takenFromAgents) {
      const rows = removed[name]
      if (rows !== undefined) for (const agent of rows) touched.add(agent)
    }
  }
  if (despawned === undefined) return
  for (const entity of despawned) {
    const owner = owners.get(entity)
    if (owner === undefined) continue
    owners.delete(entity)
    touched.add(owner)
  }
}

/** Questions that were put, answered or taken back. */
function inLine(tick: WatchedTick, { questions }: Waits): Finding {
  if (questions.size === 0 && (setBits(tick.step) & bits.queries) === 0) return undefined
  const rows = setIn(tick, SessionQuery)
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
  const [held] = state.holders(Summarizing)
  if (held !== undefined) return `agent ${held} waits for a summary`
  const [busy] = state.holders(Busy)
  if (busy !== undefined) return `agent ${busy} is busy`
  for (const agent of state.holders(Llm)) {
    const finding = stuckAgent(world, agent) ?? stuckUnread(world, agent)
    if (finding !== undefined) return finding
  }
  return undefined
}
