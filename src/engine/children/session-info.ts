import { Collected, SessionQuery } from '../../../components/sessions/session-call.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { SessionStatus } from '../../protocol/delegation.ts'
import type { SessionUsage } from '../../protocol/usage.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { sumOf } from '../../rules/tokens/token-counts.ts'

/** A session as a program sees it. */
export interface SessionInfo {
  readonly sessionId: string
  readonly sequence: number
  readonly category: string
  /** Of an ended session: the beginning, if it is long. */
  readonly prompt: string
  readonly model: string
  readonly status: SessionStatus
  /** Unix time of the launch; absent: a model launched it. */
  readonly startedAt: number | undefined
  readonly ageMs: number
  /** Until its deadline; `undefined`: it has none, or does not run. */
  readonly remainingMs: number | undefined
  /** On its task and on questions, so far. */
  readonly usage: SessionUsage
  /** A result or a reply is under way, or waits to be collected. */
  readonly pending: boolean
}

/** @param live what sessions under way have spent. Absent: what the world knows counts */
export function sessionInfo(
  world: World,
  session: Entity,
  live?: { readonly usageOf: (sessionId: string) => SessionUsage | undefined },
): SessionInfo {
  const record = world.read(session, SubagentSession)
  const { category, createdAtDateMs, createdAtMs, deadlineMs, model, prompt, sequence, sessionId, status } = record
  const isOpen = !world.has(session, Collected) && status !== 'cancelled'
  return {
    sessionId,
    sequence,
    category,
    prompt,
    model,
    status,
    startedAt: createdAtDateMs,
    ageMs: world.nowMs - createdAtMs,
    remainingMs: status === 'running' && deadlineMs !== undefined ? deadlineMs - world.nowMs : undefined,
    usage: live?.usageOf(sessionId) ?? usedBy(record),
    pending: isOpen || queriesOf(world, session).length > 0,
  }
}

/** Questions of programs that wait for an answer, or whose answer was not taken. */
export function queriesOf(world: World, session: Entity): readonly Entity[] {
  const asked = world.referrers(SessionQuery, session)
  return asked.filter((query) => world.read(query, SessionQuery).call === undefined)
}

function usedBy({ usage = { calls: 0, sessions: 0 }, usageAfterEnd }: SubagentSessionData): SessionUsage {
  return usageAfterEnd === undefined ? usage : sumOf(usage, usageAfterEnd)
}
