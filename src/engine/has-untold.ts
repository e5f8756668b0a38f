import { SubagentSession } from '../../components/subagent-session.ts'
import { SubtaskAccount } from '../../components/subtask-account.ts'
import type { World } from '../world/world.ts'

/** Is there a session or a subtask of which a world may not have been told what it had spent? */
export function hasUntold({ core: { state } }: World): boolean {
  return [SubagentSession, SubtaskAccount].some((token) => state.holders(token).length > 0)
}
