import { isFinal } from '../../../components/session-status.ts'
import { SubagentSession } from '../../../components/subagent-session.ts'
import { SubtaskAccount } from '../../../components/subtask-account.ts'
import { usageOf } from '../../subagents/session-usage.ts'
import type { World } from '../../world/world.ts'
import { agentOf } from './child-run.ts'
import type { Children } from './children.ts'
import { tellUntoldSubtasks } from './subtask.ts'

/** Is there a child of which a world may not have been told what it had spent? */
export function hasUntold({ core: { state } }: World): boolean {
  return [SubagentSession, SubtaskAccount].some((token) => state.holders(token).length > 0)
}

/** Tells of children that were stopped by a process that ended before it could tell what they had spent. */
export function tellUntold(children: Children): void {
  tellUntoldSubtasks(children)
  for (const session of children.world.core.state.holders(SubagentSession)) {
    const { grant, sessionId, status } = children.record(session)
    if (grant === undefined || !isFinal(status)) continue
    void children.locked(sessionId, async () => {
      const world = await children.worlds.look(sessionId).catch(() => undefined)
      children.spent(session, world === undefined ? { calls: 0, sessions: 0 } : usageOf(world, agentOf(world), []))
    })
  }
}
