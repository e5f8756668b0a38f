import { Ancestry, SessionStopped, SlotReleased, SlotRequest } from '../../components/sessions/ancestry.ts'
import { Settling } from '../../components/context/holder.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { ModelCall, SideCall } from '../../components/effects/model-call.ts'
import { Effect, Outcome, Running } from '../../components/effects/effect.ts'
import { Answering, AwaitingSession, Collected, SessionQuery } from '../../components/sessions/session-call.ts'
import { isFinal } from '../../src/protocol/delegation.ts'
import { ReportedUsage, SessionTexts, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SessionOutcome } from '../../src/rules/delegation/session-outcome.ts'
import { raiseMarks } from '../../src/rules/policy/marks.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { Input } from '../../src/world/input.ts'
import type { World } from '../../src/world/world.ts'
import { answerQuery, closeSession, queryProblem, querySession, settleSession, takeSettling } from './query-session.ts'
import { type FoundText, giveAnswer, markRead, settleCall, timeoutAnswer, withText } from './session-answers.ts'
import {
  activeSessions,
  cancelSession,
  cancelSessionsOf,
  delegationFacts,
  endSession,
  moveSession,
  openEffects,
  settleGrant,
  emitCancelled,
} from './end-session.ts'
import { awaitGrant, grantFor, isBehindAwaited, isReserved } from './awaited-grants.ts'
import { delegatedBy, leftToDelegate, type Refusal, takeGrant, emitIfNeared } from './delegation.ts'
import { chargeStopped } from '../money/charge-call.ts'
import { emit } from '../kit.ts'
import { Llm } from '../../components/agent/llm.ts'
import { SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import { noteRefused } from '../../src/rules/delegation/refused-requests.ts'
import { findSession } from '../../src/rules/delegation/find-session.ts'
import { launchSession, resumeSession } from './launch-session.ts'
import { launchWorker, toolsToGrant } from './launch-worker.ts'
import { Delegated } from '../../components/sessions/delegation-limits.ts'
import { type Allowance, grantData } from '../../src/rules/delegation/grants.ts'
import { isCaptured, releaseBlueprint } from './blueprints.ts'
import { seconds } from '../../src/rules/delegation/session-lines.ts'

/**
 * Moves sessions along: programs' requests, admissions by the pool, outcomes and deadlines, in order of arrival.
 * Answers the calls that wait for them.
 * Writes: SubagentSession and related components, GrantAwaited, Delegated, SubagentNotification. Starts: session, record,
 * queue-position, query, settling.
 */
export function subagentScheduler(defaultTimeoutMs: number | undefined) {
  return {
    name: 'subagent-scheduler',
    priority: -30,
    wakes: [
      'delegate',
      'session-cancel',
      'query',
      'collected',
      'granted',
      'session-stopped',
      'session-spent',
      SubagentSession,
      SlotRequest,
      [Outcome, AwaitingSession],
      [Outcome, Answering],
      [Outcome, SessionQuery],
      [Outcome, Settling],
    ],
    run(world: World): void {
      const ended = new Set(world.query(Outcome))
      for (const input of world.inputs) {
        if (input.kind === 'outcome' || input.kind === 'due') takeEnd(world, input, ended)
        else takeInput(world, input, defaultTimeoutMs)
      }
      for (const effect of world.query(Outcome)) takeSettled(world, effect)
    },
  }
}

/** Effects settled in this tick, including sessions at their deadlines. */
function takeSettled(world: World, effect: Entity): void {
  // An earlier one may have ended this one too.
  if (!world.has(effect, Outcome)) return
  if (world.has(effect, SubagentSession)) takeOutcome(world, effect)
  else if (world.has(effect, AwaitingSession)) {
    const { read = { method: 'full' }, session, timeoutMs = 0 } = world.read(effect, AwaitingSession)
    giveAnswer(world, effect, timeoutAnswer(world, session, read, timeoutMs))
  } else if (world.has(effect, Answering)) completeAnswer(world, effect)
  else if (world.has(effect, SessionQuery)) answerQuery(world, effect)
  else if (world.has(effect, Settling)) takeSettling(world, effect)
  else if (world.has(effect, SlotRequest)) {
    world.despawn(effect)
    for (const agent of world.query(Ancestry)) world.remove(agent, SlotReleased)
  }
}

/**
 * Ends a session at the place of its input. If an earlier input has ended it, the end is dropped, and only its spending
 * counts.
 * @param ended effects settled in this tick whose end was not taken yet
 */
function takeEnd(world: World, input: Input, ended: Set<Entity>): void {
  const { effect } = input as InputOf<'due'>
  const record = world.get(effect, SubagentSession)
  if (record === undefined) return
  const isNew = ended.delete(effect)
  if (world.has(effect, Outcome)) return takeOutcome(world, effect)
  if (isNew) emit(world, 'input-dropped', { kind: input.kind, effect, reason: 'settled' })
  if (input.kind !== 'outcome' || record.usage !== undefined) return
  const { outcome } = input as InputOf<'outcome'>
  const usage = outcome.ok ? parsedAs(SessionOutcome(), outcome.value)?.usage : undefined
  if (usage !== undefined) settleGrant(world, effect, usage)
}

function takeInput(world: World, input: Input, defaultTimeoutMs: number | undefined): void {
  switch (input.kind) {
    case 'admitted': {
      const { effect } = input as InputOf<'admitted'>
      if (world.has(effect, SubagentSession)) admitSession(world, effect)
      return
    }
    case 'granted':
      return takeGrant(world, input as InputOf<'granted'>)
    case 'session-stopped':
      return stopSessions(world)
    case 'session-spent': {
      const { asker, isUnderWay, session, usage } = input as InputOf<'session-spent'>
      const status = world.get(session, SubagentSession)?.status
      if (status !== undefined && isFinal(status) && asker === undefined && isUnderWay !== true)
        settleGrant(world, session, usage)
      return
    }
    case 'delegate':
      return takeDelegate(world, input as Delegate, defaultTimeoutMs)
    case 'session-cancel':
      return takeCancel(world, input as InputOf<'session-cancel'>)
    case 'query':
      return takeQuery(world, input as InputOf<'query'>)
    case 'collected':
      return takeCollected(world, input as InputOf<'collected'>)
  }
}

/** The session of this world was stopped from above: its own sessions end; the rest stays as it is, to be resumed. */
function stopSessions(world: World): void {
  for (const agent of world.query(Ancestry)) {
    emitCancelled(world, agent, activeSessions(world, agent), openEffects(world, agent))
    cancelSessionsOf(world, agent)
    world.add(agent, SessionStopped)
  }
  // They stay, and are made again where the session is resumed.
  for (const call of [...world.query(ModelCall), ...world.query(SideCall)]) chargeStopped(world, call)
}

/** Completes an answer. A queue position that changed meanwhile is left out. */
function completeAnswer(world: World, call: Entity): void {
  const { answer, wants } = world.read(call, Answering)
  const outcome = world.read(call, Outcome)
  const value = outcome.ok ? outcome.value : null
  if ('queuePositionOf' in wants) {
    const place = typeof value === 'number' ? { queue_position: value } : {}
    return settleCall(world, call, JSON.stringify({ ...answer, ...place }))
  }
  settleCall(world, call, JSON.stringify(withText(answer, value as FoundText | null)))
}

type Delegate = InputOf<'delegate'>

function takeDelegate(world: World, input: Delegate, defaultTimeoutMs: number | undefined): void {
  const launched = launch(world, input, defaultTimeoutMs)
  if (typeof launched === 'number') return
  const { code, field, message } = launched
  const reason = field === undefined ? message : `${field}: ${message}`
  noteRefused(world, input.correlationId, { code, reason })
}

function launch(world: World, input: Delegate, defaultTimeoutMs: number | undefined): Entity | Refusal {
  const { agent, category, correlationId, loadSkills = [], notify = true, prompt, resume } = input
  const timeoutMs = input.timeoutMs ?? defaultTimeoutMs
  if (!world.has(agent, Llm) && !world.has(agent, SubagentRegistry)) {
    return { code: 'invalid-argument', message: `Entity ${agent} is no agent` }
  }
  if (resume !== undefined) {
    const found = findSession(world, agent, resume)
    if (found.problem !== undefined) return { code: found.code, message: found.problem }
    const resumed = resumeSession(world, found.session, correlationId)
    return 'code' in resumed ? resumed : resumed.session
  }
  if (input.worker !== undefined) {
    const { tools } = input.worker
    const granting = toolsToGrant(world, agent)
    const lacking = tools.find((name) => !granting.includes(name))
    if (lacking !== undefined) {
      const there = granting.length === 0 ? 'none' : granting.join(', ')
      const message = `the agent has no tool named '${lacking}' to grant; its tools: ${there}`
      return { code: 'invalid-argument', field: 'tools', message }
    }
    return launchWorker(world, agent, {
      ...input.worker,
      task: prompt,
      timeoutMs,
      correlationId,
      notify,
      isDated: true,
    })
  }
  const asked = input.fork === true ? 'fork' : category
  return launchSession(world, agent, {
    category: asked,
    prompt,
    loadSkills,
    loadedBy: 'program',
    mode: 'background',
    timeoutMs,
    correlationId,
    notify,
  })
}

function takeCancel(world: World, { agent, session: named, close }: InputOf<'session-cancel'>): void {
  const { session } = own(world, agent, named)
  if (session === undefined) return
  if (close === true) return closeSession(world, session)
  if (isFinal(world.read(session, SubagentSession).status)) return
  emitCancelled(world, agent, [session], [])
  cancelSession(world, session)
}

function takeQuery(world: World, { agent, session: named, prompt, query, returnName }: InputOf<'query'>): void {
  const { session } = own(world, agent, named)
  // The asker sees that there is no query.
  if (session === undefined || queryProblem(world, session) !== undefined) return
  querySession(world, session, { agent, id: query, prompt, returnName })
}

function takeCollected(world: World, { agent, session: named, query }: InputOf<'collected'>): void {
  const { session } = own(world, agent, named)
  if (session === undefined) return
  if (query === undefined) {
    world.set(session, Collected, { atMs: world.nowMs })
    return markRead(world, session)
  }
  const asked = world.referrers(SessionQuery, session).find((entity) => world.read(entity, SessionQuery).id === query)
  if (asked !== undefined) world.despawn(asked)
}

/** Requests may arrive late: the session is looked up again. */
function own(world: World, agent: Entity, named: string): { readonly session?: Entity } {
  const found = world.exists(agent) ? findSession(world, agent, named) : undefined
  return found?.problem === undefined && found !== undefined ? { session: found.session } : {}
}

/**
 * Starts a session that has a slot: its clock runs from now, and its grant is reserved. Where others have reserved what it needs, it
 * waits.
 */
function admitSession(world: World, session: Entity): void {
  // A session cancelled in this tick does not start.
  if (!world.has(session, Running) || world.read(session, SubagentSession).status !== 'queued') return
  const { parent, timeoutMs } = world.read(session, SubagentSession)
  const grant = grantFor(world, session, parent, leftToDelegate(world, parent))
  if (typeof grant === 'string') {
    if (isReserved(world, session, parent)) return awaitGrant(world, session, parent)
    return endSession(world, session, { status: 'failed', fields: { error: `Delegation limit reached: ${grant}` } })
  }
  if (isBehindAwaited(world, session, parent)) return awaitGrant(world, session, parent)
  const deadlineMs = timeoutMs === undefined ? undefined : world.nowMs + timeoutMs
  moveSession(world, session, 'running', { deadlineMs, grant: grantData(grant), startedAtMs: world.nowMs })
  if (deadlineMs !== undefined) world.patch(session, Effect, { deadlineMs })
  reserve(world, parent, grant)
  if (!isCaptured(world, session)) releaseBlueprint(world, session)
  emit(world, 'delegation-started', delegationFacts(world, session))
  emitIfNeared(world, parent)
}

function reserve(world: World, parent: Entity, { sessions, tokens = 0, costNanoUsd = 0 }: Allowance): void {
  const delegated = delegatedBy(world, parent)
  world.set(parent, Delegated, {
    ...delegated,
    reservedCostNanoUsd: delegated.reservedCostNanoUsd + costNanoUsd,
    reservedSessions: delegated.reservedSessions + sessions,
    reservedTokens: delegated.reservedTokens + tokens,
  })
}

/** Ends a session whose effect is settled: its world ended, its deadline passed, or it could not run. */
function takeOutcome(world: World, session: Entity): void {
  const outcome = world.read(session, Outcome)
  const { timeoutMs = 0, status } = world.read(session, SubagentSession)
  if (!outcome.ok) {
    const { kind, message } = outcome.failure
    const isLate = kind === 'timed-out' && status === 'running'
    const error = isLate ? `Subagent timeout after ${seconds(timeoutMs)}` : message
    if (isLate) return endSession(world, session, { status: 'timed_out', fields: { error } })
    // A session that could not run or go on has used what it reported; a timed-out one reports its usage later.
    const used = world.get(session, ReportedUsage)?.usage ?? { calls: 0, sessions: 0 }
    return endSession(world, session, { status: 'failed', fields: { error }, usage: used })
  }
  const end = parsedAs(SessionOutcome(), outcome.value)
  if (end === undefined) {
    const error = 'The session came back with an outcome that is none.'
    return endSession(world, session, { status: 'failed', fields: { error } })
  }
  const { ok: _, isArchiving, marks, usage, prompt, promptCut, promptRecord, ...rest } = end
  raiseMarks(world, world.read(session, SubagentSession).parent, marks)
  if (isArchiving === true) settleSession(world, session, true)
  const cut = prompt === undefined ? {} : { prompt, promptCut, promptRecord }
  if (!('text' in rest)) {
    return endSession(world, session, { status: 'failed', fields: { ...cut, error: rest.error }, usage })
  }
  const { text, texts, ...fields } = rest
  if (texts !== undefined) world.set(session, SessionTexts, texts)
  endSession(world, session, { status: 'succeeded', fields: { ...cut, ...fields }, text, usage })
}
