import { SubagentSession, type SubagentSessionData } from '../../components/subagent-session.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { World } from '../world/world.ts'
import { findSession } from '../subagents/find-session.ts'

/** A session's full id, a unique prefix of it (longer than `session-`), or its sequence number. */
export type SessionRef = string | number

/** An agent's own session of that name, or what is wrong with the name. */
export function ownSession(
  world: World,
  agent: Entity,
  ref: SessionRef,
): { readonly session: Entity; readonly record: SubagentSessionData } | EntiaError {
  const found = findSession(world, agent, String(ref))
  if (found.problem !== undefined) return new EntiaError(found.code, found.problem, { ref })
  return { session: found.session, record: world.read(found.session, SubagentSession) }
}
