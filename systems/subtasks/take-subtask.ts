import { Llm } from '../../components/llm.ts'
import type { InputOf } from '../../components/input.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import { noteRefused } from '../../src/subagents/refused-requests.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { launchSubtask } from './launch-subtask.ts'

/** Launches a subtask that a program asks for. */
export function takeSubtask(world: World, input: InputOf<'subtask'>): void {
  const { agent, maxSteps, model, name, request, systemPrompt, timeoutMs, tools, userMessage } = input
  const llm = world.get(agent, Llm)
  const reason = llm === undefined ? `Entity ${agent} is no agent` : toolProblem(world, agent, tools)
  if (llm === undefined || reason !== undefined) {
    return noteRefused(world, request, { code: 'invalid-argument', reason: `runSubtask: ${reason}.` })
  }
  const asked = { maxSteps, name, request, systemPrompt, timeoutMs, tools, userMessage }
  launchSubtask(world, world.spawn(), { ...asked, agent, model: model ?? llm.model })
}

/** Tools of the World itself are for the agent alone. */
function toolProblem(world: World, agent: Entity, names: readonly string[]): string | undefined {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  for (const name of names) {
    const tool = tools.find((each) => each.name === name)
    if (tool === undefined) return `tools: the agent has no tool '${name}'`
    if (tool.world === true) return `tools: '${name}' changes the World of the agent, and a subtask has one of its own`
  }
  return undefined
}
