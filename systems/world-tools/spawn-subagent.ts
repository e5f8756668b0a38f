import { z } from 'zod'
import { SubagentSession } from '../../components/subagent-session.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import { freeFormConfig } from '../../src/subagents/free-form.ts'
import { lazily } from '../../src/world/lazily.ts'
import { launchSession } from '../sessions/launch-session.ts'
import { refusalText } from '../sessions/refusal.ts'
import { filledText } from './arguments.ts'
import { type WorldTool, worldTool } from './world-tool.ts'

const name = 'spawn_subagent'
/** The category of the sessions that it launches. */
const category = 'worker'

/** Made once, and not with each list of systems. */
const input = lazily(() => z.object({ task: filledText(), tools: z.array(filledText()).default([]) }))

/** `spawn_subagent`: launches a worker in the background that has the tools it is given, and no others. It never forks. */
export function spawnSubagent(defaultTimeoutMs: number | undefined): WorldTool {
  return worldTool(name, input, (world, { task, tools }, { agent, callId }) => {
    const own = world.get(agent, ToolRegistry)?.tools ?? []
    const lacking = tools.find((wanted) => !own.some((tool) => tool.name === wanted))
    if (lacking !== undefined) return `Error: Invalid arguments for '${name}': tools: there is no tool named ${lacking}`
    const config = {
      ...freeFormConfig(category, {}),
      inheritancePolicy: { inheritPermissions: true, inheritSystemPrompt: false, inheritTools: tools },
    }
    const session = launchSession(world, agent, {
      config,
      prompt: task,
      loadSkills: [],
      mode: 'background',
      timeoutMs: defaultTimeoutMs,
      callId,
    })
    if (typeof session !== 'number') return refusalText(name, session)
    const { sessionId, status } = world.read(session, SubagentSession)
    return JSON.stringify({ subagent_id: sessionId, status })
  })
}
