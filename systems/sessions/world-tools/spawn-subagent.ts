import { z } from 'zod'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { toolPresets } from '../../../src/rules/delegation/declarations.ts'
import { freeFormConfig } from '../../../src/rules/delegation/free-form.ts'
import { lazily } from '../../../src/world/lazily.ts'
import { launchSession } from '../launch-session.ts'
import { refusalText } from '../refusal.ts'
import { filledText } from './arguments.ts'
import { type WorldTool, worldTool } from './world-tool.ts'

const name = 'spawn_subagent'
/** The category of the sessions that it launches. */
const category = 'worker'
const onBlocked =
  '- You have the tools that you were given, and get no others. What would need an approval is denied: report that you are blocked instead of trying again.'

/** Made once, and not with each list of systems. */
const input = lazily(() =>
  z.object({
    preset: z.enum(['minimal', 'investigate', 'work']).optional(),
    task: filledText(),
    tools: z.array(filledText()).optional(),
  }),
)

/** `spawn_subagent`: launches a worker in the background that has the tools it is given, and no others. It never forks. */
export function spawnSubagent(defaultTimeoutMs: number | undefined): WorldTool {
  return worldTool(name, input, (world, { preset, task, tools }, { agent, callId }) => {
    const own = new Set((world.get(agent, ToolRegistry)?.tools ?? []).map((tool) => tool.name))
    const lacking = tools?.find((wanted) => !own.has(wanted))
    if (lacking !== undefined) {
      return { problem: `Invalid arguments for '${name}': tools: there is no tool named ${lacking}` }
    }
    const granted = tools ?? (preset === undefined ? [] : toolPresets[preset].filter((tool) => own.has(tool)))
    const worker = freeFormConfig(category, {})
    const config = {
      ...worker,
      systemPrompt: `${worker.systemPrompt}\n${onBlocked}`,
      inheritancePolicy: { inheritPermissions: true, inheritSystemPrompt: false, inheritTools: granted },
    }
    const session = launchSession(world, agent, {
      approvals: 'denied',
      config,
      prompt: task,
      loadSkills: [],
      mode: 'background',
      timeoutMs: defaultTimeoutMs,
      callId,
    })
    if (typeof session !== 'number') return { problem: refusalText(name, session) }
    const { sessionId, status } = world.read(session, SubagentSession)
    return JSON.stringify({ subagent_id: sessionId, status })
  })
}
