import { Archival } from '../../components/context/archival.ts'
import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Settling, Unsettled } from '../../components/context/holder.ts'
import { SessionQuery } from '../../components/sessions/session-call.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { ToolCall } from '../../components/agent/tool-call.ts'
import { isFinal } from '../../src/protocol/delegation.ts'
import { grantData, questionGrant } from '../../src/rules/delegation/grants.ts'
import { QueryOutcome, SettlingOutcome } from '../../src/rules/delegation/session-outcome.ts'
import { knownHolders, recordHolder } from '../../src/rules/delegation/record-holder.ts'
import { raiseMarks } from '../../src/rules/policy/marks.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { beginEffect, emit, latchOf, tryWriteAgain } from '../kit.ts'
import { cancelSession, emitCancelled } from './end-session.ts'
import { settleCall } from './session-answers.ts'
import { leftToDelegate } from './delegation.ts'

/** A further question to a session. */
export interface Question {
  readonly agent: Entity
  readonly id: string
  readonly prompt: string
  /** The tool call that asks. Absent: a program asks. */
  readonly call?: Entity
  /** A name or handle whose value it is to give as well. */
  readonly returnName?: string | undefined
}

/** Why a session takes no query; `undefined` if it does. */
export function queryProblem(world: World, session: Entity): string | undefined {
  const { closed, sessionId, status } = world.read(session, SubagentSession)
  if (status === 'succeeded' && closed !== true) return undefined
  return `Subagent ${sessionId} cannot be queried: ${closed === true ? 'closed' : status}`
}

/** Asks a session that takes queries. A session answers one question at a time. */
export function querySession(world: World, session: Entity, { agent, id, prompt, call, returnName }: Question): void {
  const query = world.spawn()
  const more = { ...(call !== undefined && { call }), ...(returnName !== undefined && { returnName }) }
  world.set(query, SessionQuery, { agent, id, prompt, session, ...more })
  // A call's query ends with its turn.
  if (call !== undefined) world.set(query, OwnedBy, { agent })
  startNextQuery(world, session)
}

/** Answers the query's asker, and starts the next query. */
export function answerQuery(world: World, query: Entity): void {
  const { agent, call, id, session } = world.read(query, SessionQuery)
  const outcome = world.read(query, Outcome)
  const end = outcome.ok ? parsedAs(QueryOutcome(), outcome.value) : undefined
  const failed = outcome.ok ? 'The query came back with an outcome that is none.' : outcome.failure.message
  if (end !== undefined && end.isArchiving !== true) world.remove(session, Unsettled)
  raiseMarks(world, agent, end?.marks)
  const { sessionId } = world.read(session, SubagentSession)
  const reply =
    end?.ok === true
      ? { ok: true as const, text: withHolders(world, agent, end) }
      : { ok: false as const, error: end?.error ?? failed }
  if (call === undefined) {
    for (const token of [Effect, Outcome, Pending]) world.remove(query, token)
    world.patch(query, SessionQuery, { reply })
  } else {
    world.despawn(query)
    const text = reply.ok ? reply.text : `Error: Subagent ${sessionId} could not answer: ${reply.error}`
    if (world.has(call, ToolCall)) settleCall(world, call, text, !reply.ok)
  }
  emit(world, 'query-answered', { agent, sessionId, query: id })
  startNextQuery(world, session)
}

/** An answer with the holders of the session that gave it: from now on the asker may query them too. */
function withHolders(world: World, agent: Entity, { holders = [], text }: Extract<QueryOutcome, { ok: true }>): string {
  if (holders.length === 0) return text
  const known = new Set(knownHolders(world, agent).map(({ sessionId }) => sessionId))
  for (const holder of holders) {
    if (!known.has(holder.sessionId)) recordHolder(world, agent, { ...holder, isTold: true })
  }
  const lines = holders.map(({ sessionId, task }) => `- id: ${sessionId} | task: ${task}`)
  return [text, '', 'Archived within this subagent:', ...lines].join('\n')
}

export function startNextQuery(world: World, session: Entity): void {
  const asked = world.referrers(SessionQuery, session)
  const first = asked.find((query) => world.read(query, SessionQuery).reply === undefined)
  if (first === undefined) return settleSession(world, session)
  if (world.has(first, Effect)) return
  world.set(first, Effect, { attempt: 1, kind: 'query', restart: 'keyed' })
  const { agent } = world.read(first, SessionQuery)
  const latched = latchOf(world, agent)
  if (latched?.failure === undefined || latched.kind !== 'cost_ceiling') {
    if (world.has(agent, Archival)) {
      // A queried session goes on archiving meanwhile, and may have more to archive afterwards.
      for (const effect of world.referrers(Settling, session)) world.despawn(effect)
      world.add(session, Unsettled)
    }
    world.patch(first, SessionQuery, { grant: grantData(questionGrant(leftToDelegate(world, agent))) })
    return world.add(first, Pending)
  }
  world.set(first, Outcome, { ok: false, failure: latched.failure })
  answerQuery(world, first)
}

/** Ends a session if it has not ended, and refuses questions to it from now on. */
export function closeSession(world: World, session: Entity): void {
  const { parent, status } = world.read(session, SubagentSession)
  if (!isFinal(status)) {
    emitCancelled(world, parent, [session], [])
    cancelSession(world, session)
  }
  world.patch(session, SubagentSession, { closed: true })
  cancelQueries(world, session)
}

/** Ends what a session is asked: it was closed. */
function cancelQueries(world: World, session: Entity): void {
  const open = world.referrers(SessionQuery, session).filter((asked) => {
    return world.read(asked, SessionQuery).reply === undefined && !world.has(asked, Outcome)
  })
  // The one under way last, so that none of those behind it begins.
  for (const query of open.toReversed()) {
    world.set(query, Outcome, { ok: false, failure: { kind: 'cancelled', message: 'Session was cancelled' } })
    answerQuery(world, query)
  }
}

/**
 * Drives the world of an ended session until its turns are archived.
 * @param isKnown some still are to be archived
 */
export function settleSession(world: World, session: Entity, isKnown = world.has(session, Unsettled)): void {
  if (!isKnown || world.isReferred(Settling, session)) return
  world.add(session, Unsettled)
  const effect = world.spawn(Settling({ session, tries: 1 }))
  beginEffect(world, effect, { kind: 'settling', restart: 'pure' })
}

export function takeSettling(world: World, effect: Entity): void {
  const outcome = world.read(effect, Outcome)
  const { session, tries } = world.read(effect, Settling)
  const end = outcome.ok ? parsedAs(SettlingOutcome(), outcome.value) : undefined
  const { parent: agent, sessionId } = world.read(session, SubagentSession)
  const isDone = end !== undefined && end.isArchiving !== true
  if (!isDone && tryWriteAgain(world, effect, tries)) return world.patch(effect, Settling, { tries: tries + 1 })
  // The next question takes it up again.
  if (isDone) world.remove(session, Unsettled)
  else emit(world, 'warning', { agent, message: `Turns of session ${sessionId} could not be archived yet.` })
  world.despawn(effect)
}
