import { z } from 'zod'
import { AwaitingSession } from '../../../components/sessions/session-call.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { launchSession, resumeSession } from '../launch-session.ts'
import { launchWorker, toolsToGrant } from '../launch-worker.ts'
import { refusalText } from '../delegation.ts'
import { lazily } from '../../../src/base/lazily.ts'
import { filledText, positiveSeconds, sessionName, worldTool, type WorldTool } from './world-tool.ts'
import { defaultPresetOf, toolPresets } from '../../../src/rules/delegation/declarations.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'

const launchName = 'subagent'

const launchInput = lazily(() =>
  z.object({
    background: z.boolean().default(false),
    category: filledText().optional(),
    load_skills: z.array(filledText()).default([]),
    prompt: filledText(),
    timeout: positiveSeconds().optional(),
  }),
)

/** `subagent`: launches a session. A background call is answered at once, another one when the session ends. */
export function subagent(defaultTimeoutMs: number | undefined): WorldTool {
  return worldTool(launchName, launchInput, (world, asked, { agent, call, callId }) => {
    const session = launchSession(world, agent, {
      category: asked.category,
      prompt: asked.prompt,
      loadSkills: asked.load_skills,
      mode: asked.background ? 'background' : 'sync',
      timeoutMs: asked.timeout ?? defaultTimeoutMs,
      callId,
    })
    if (typeof session !== 'number') return { problem: refusalText(launchName, session) }
    const { category, mode, sessionId, status } = world.read(session, SubagentSession)
    if (mode === 'background') {
      return JSON.stringify({ status: 'success', session_id: sessionId, category, lifecycle_status: status })
    }
    world.set(call, AwaitingSession, { session })
    return undefined
  })
}

const workerName = 'spawn_subagent'

const workerInput = lazily(() =>
  z.object({
    preset: z.enum(['minimal', 'investigate', 'work']).optional(),
    task: filledText(),
    tools: z.array(filledText()).optional(),
  }),
)

/** `spawn_subagent`: launches a background worker that has only the tools it is given. It never forks. */
export function spawnSubagent(defaultTimeoutMs: number | undefined): WorldTool {
  return worldTool(workerName, workerInput, (world, { preset, task, tools }, { agent, callId }) => {
    const own = new Set(toolsToGrant(world, agent))
    const lacking = tools?.find((wanted) => !own.has(wanted))
    if (lacking !== undefined) {
      return { problem: `Invalid arguments for '${workerName}': tools: there is no tool named ${lacking}` }
    }
    const declared = world.get(agent, ToolRegistry)?.tools.find(({ name }) => name === workerName)
    const chosen = preset ?? defaultPresetOf(declared)
    const granted = tools ?? (chosen === undefined ? [] : toolPresets[chosen].filter((tool) => own.has(tool)))
    const session = launchWorker(world, agent, { task, tools: granted, timeoutMs: defaultTimeoutMs, callId })
    if (typeof session !== 'number') return { problem: refusalText(workerName, session) }
    const { sessionId, status } = world.read(session, SubagentSession)
    return JSON.stringify({ subagent_id: sessionId, status })
  })
}

const resumeInput = () => z.object({ session_id: sessionName() })

/** `subagent_resume`: resumes an unsuccessful session in a new one. */
export const subagentResume = worldTool('subagent_resume', resumeInput, (world, { session_id: named }, { agent }) => {
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
