import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { isFinal } from '../../protocol/delegation.ts'
import type { World } from '../../world/world.ts'

/** It has ended, and the world that launched it does not know what it has spent: its grant stays reserved. */
export function isUnsettled({ grant, status }: Pick<SubagentSessionData, 'grant' | 'status'>): boolean {
  return grant !== undefined && isFinal(status)
}

/** Are there such sessions? Then what the world itself has spent in all is not known. */
export function hasUnsettledSessions(world: World): boolean {
  return world.entitiesWith(SubagentSession).some((session) => isUnsettled(world.read(session, SubagentSession)))
}
