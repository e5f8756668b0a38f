import { z } from 'zod'
import { isFinal } from '../../../src/protocol/session-status.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { cancelSession, tellCancelled } from '../cancel-sessions.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { sessionName } from './arguments.ts'
import { worldTool } from './world-tool.ts'

const input = () => z.object({ session_id: sessionName() })

/** `subagent_cancel`: ends a session that is queued or running. */
export const subagentCancel = worldTool('subagent_cancel', input, (world, { session_id: named }, { agent }) => {
  const found = findSession(world, agent, named)
  if (found.problem !== undefined) {
    return JSON.stringify({ status: 'error', session_id: named, lifecycle_status: null, error: found.problem })
  }
  const { session } = found
  const { sessionId, status } = world.read(session, SubagentSession)
  if (isFinal(status)) {
    const error = `Session already terminal: ${status}`
    return JSON.stringify({ status: 'error', session_id: sessionId, lifecycle_status: status, error })
  }
  tellCancelled(world, agent, [session], [])
  cancelSession(world, session)
  return JSON.stringify({ status: 'success', session_id: sessionId, lifecycle_status: 'cancelled' })
})
