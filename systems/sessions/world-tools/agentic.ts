import { z } from 'zod'
import { Context } from '../../../components/context/context.ts'
import { type AgenticWrapper, agenticWrappers } from '../../../src/rules/context/agentic-wrapper.ts'
import { lazily } from '../../../src/world/lazily.ts'
import { launchSubtask } from '../subtasks/launch-subtask.ts'
import { smallModelOf } from '../subtasks/small-model.ts'
import { filledText } from './arguments.ts'
import { type WorldTool, worldTool } from './world-tool.ts'

/** Longest run of a wrapper's subtask, in milliseconds of world time. */
const timeoutMs = 60_000

const input = lazily(() => z.object({ request: filledText() }))

/** The wrappers, by name. */
export const agentic: readonly (readonly [string, WorldTool])[] = agenticWrappers.map((wrapper) => [
  wrapper.name,
  wrapperTool(wrapper),
])

/** A wrapper: its call stays open until a subtask has an answer to it. */
function wrapperTool({ maxSteps, name, systemPrompt, tools }: AgenticWrapper): WorldTool {
  return worldTool(name, input, (world, { request: userMessage }, { agent, call }) => {
    const maxDigestChars = world.get(agent, Context)?.agentic.maxDigestChars
    launchSubtask(world, call, {
      ...smallModelOf(world, agent),
      agent,
      ...(maxDigestChars !== undefined && { maxDigestChars }),
      maxSteps,
      name,
      systemPrompt,
      timeoutMs,
      tools: [...tools],
      userMessage,
    })
    return undefined
  })
}
