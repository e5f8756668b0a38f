import { Collected } from '../../components/session-call.ts'
import type { SessionStatus } from '../../components/session-status.ts'
import type { SessionUsage } from '../../components/subagent-session.ts'
import type { Entity } from '../world/component.ts'
import type { Sessions } from './sessions.ts'

/** A session as a program sees it in a list. */
export interface SessionInfo {
  readonly sessionId: string
  readonly sequence: number
  readonly category: string
  /** Of an ended session: the beginning, if it is long. */
  readonly prompt: string
  readonly model: string
  readonly status: SessionStatus
  /** Since its launch. */
  readonly ageMs: number
  /** Until its deadline; `undefined`: it has none, or does not run. */
  readonly remainingMs: number | undefined
  readonly usage: SessionUsage
  /** A result or a reply is under way, or waits to be collected. */
  readonly pending: boolean
}

/** @param hasQueries somebody has asked it, and has not collected the reply */
export function sessionInfo(sessions: Sessions, session: Entity, hasQueries: boolean): SessionInfo {
  const { world } = sessions
  const record = sessions.record(session)
  const { category, createdAtMs, deadlineMs, model, prompt, sequence, sessionId, status } = record
  const isOpen = !world.has(session, Collected) && status !== 'cancelled'
  return {
    sessionId,
    sequence,
    category,
    prompt,
    model,
    status,
    ageMs: world.nowMs - createdAtMs,
    remainingMs: status === 'running' && deadlineMs !== undefined ? deadlineMs - world.nowMs : undefined,
    usage: record.usage ?? sessions.usageOfSession(sessionId) ?? { calls: 0, sessions: 0 },
    pending: isOpen || hasQueries,
  }
}
