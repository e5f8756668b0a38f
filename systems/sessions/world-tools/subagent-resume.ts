import { z } from 'zod'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { resumeSession } from '../resume-session.ts'
import { sessionName } from './arguments.ts'
import { worldTool } from './world-tool.ts'

const input = () => z.object({ session_id: sessionName() })

/** `subagent_resume`: goes on, in a new session, with one that did not succeed. */
export const subagentResume = worldTool('subagent_resume', input, (world, { session_id: named }, { agent }) => {
  const found = findSession(world, agent, named)
  if (found.problem !== undefined) return refused(found.problem, named)
  const original = world.read(found.session, SubagentSession).sessionId
  const resumed = resumeSession(world, found.session)
  if ('code' in resumed) return refused(resumed.message, original)
  const { category, sessionId, status } = world.read(resumed.session, SubagentSession)
  return JSON.stringify({
    status: 'success',
    original_session_id: original,
    session_id: sessionId,
    category,
    lifecycle_status: status,
    continued: resumed.isContinued,
  })
})

function refused(error: string, original: string): string {
  return JSON.stringify({ status: 'error', original_session_id: original, session_id: null, error })
}
