import { type SessionStatus, transitionProblem } from '../../src/protocol/session-status.ts'
import { SubagentSession, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import type { Entity, PatchOf } from '../../src/world/component.ts'
import { EntiaError } from '../../src/world/entia-error.ts'
import type { World } from '../../src/world/world.ts'

/**
 * Takes a session to another state, and notes what belongs to it.
 *
 * @throws `illegal-transition` for a change that no session makes, to the same state too; the record is then as before
 */
export function moveSession(
  world: World,
  session: Entity,
  status: SessionStatus,
  fields: PatchOf<SubagentSessionData> = {},
): void {
  const before = world.read(session, SubagentSession)
  const problem = transitionProblem(before.status, status)
  if (problem !== undefined) {
    const details = { entity: session, from: before.status, to: status }
    throw new EntiaError('illegal-transition', `Session ${before.sessionId}: ${problem}.`, details)
  }
  world.patch(session, SubagentSession, { ...fields, status, updatedAtMs: world.nowMs })
}
