import { z } from 'zod'
import { AwaitingSession } from '../../../components/sessions/session-call.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { launchSession } from '../launch-session.ts'
import { refusalText } from '../refusal.ts'
import { lazily } from '../../../src/world/lazily.ts'
import { filledText, positiveSeconds } from './arguments.ts'
import { type WorldTool, worldTool } from './world-tool.ts'

const name = 'subagent'

/** Made once, and not with each list of systems. */
const input = lazily(() =>
  z.object({
    background: z.boolean().default(false),
    category: filledText().optional(),
    load_skills: z.array(filledText()).default([]),
    prompt: filledText(),
    timeout: positiveSeconds().optional(),
  }),
)

/** `subagent`: launches a session. In the background it is answered at once; else when the session has ended. */
export function subagent(defaultTimeoutMs: number | undefined): WorldTool {
  return worldTool(name, input, (world, asked, { agent, call, callId }) => {
    const session = launchSession(world, agent, {
      category: asked.category,
      prompt: asked.prompt,
      loadSkills: asked.load_skills,
      mode: asked.background ? 'background' : 'sync',
      timeoutMs: asked.timeout ?? defaultTimeoutMs,
      callId,
    })
    if (typeof session !== 'number') return { problem: refusalText(name, session) }
    const { category, mode, sessionId, status } = world.read(session, SubagentSession)
    if (mode === 'background') {
      return JSON.stringify({ status: 'success', session_id: sessionId, category, lifecycle_status: status })
    }
    world.set(call, AwaitingSession, { session })
    return undefined
  })
}
