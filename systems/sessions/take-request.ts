import type { InputOf, StandardInput } from '../../components/input.ts'
import { Llm } from '../../components/agent/llm.ts'
import { Collected, SessionQuery } from '../../components/sessions/session-call.ts'
import { isFinal } from '../../src/protocol/session-status.ts'
import { SubagentRegistry } from '../../components/sessions/subagent-registry.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { cancelSession, tellCancelled } from './cancel-sessions.ts'
import { noteRefused } from '../../src/rules/delegation/refused-requests.ts'
import { findSession } from '../../src/rules/delegation/find-session.ts'
import { launchSession } from './launch-session.ts'
import { querySession, queryProblem } from './query-session.ts'
import type { Refusal } from './refusal.ts'
import { markRead } from './result-answer.ts'
import { resumeSession } from './resume-session.ts'

type Delegate = InputOf<'delegate'>

/** Takes what a program asks of an agent's sessions. */
export function takeRequest(world: World, input: { readonly kind: string }, defaultTimeoutMs?: number): void {
  const known = input as StandardInput
  switch (known.kind) {
    case 'delegate':
      return takeDelegate(world, known, defaultTimeoutMs)
    case 'session-cancel':
      return takeCancel(world, known)
    case 'query':
      return takeQuery(world, known)
    case 'collected':
      return takeCollected(world, known)
    default:
  }
}

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
  if (!isFinal(world.read(session, SubagentSession).status)) {
    tellCancelled(world, agent, [session], [])
    cancelSession(world, session)
  }
  if (close === true) world.patch(session, SubagentSession, { closed: true })
}

function takeQuery(world: World, { agent, session: named, prompt, query }: InputOf<'query'>): void {
  const { session } = own(world, agent, named)
  // Who asks looks whether there is a query, and is told so if not.
  if (session === undefined || queryProblem(world, session) !== undefined) return
  querySession(world, session, { agent, id: query, prompt })
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

/** A request may come too late: what it names is looked up once more. */
function own(world: World, agent: Entity, named: string): { readonly session?: Entity } {
  const found = world.exists(agent) ? findSession(world, agent, named) : undefined
  return found?.problem === undefined && found !== undefined ? { session: found.session } : {}
}
