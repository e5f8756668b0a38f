import { ToolCeiling } from '../../components/ancestry.ts'
import { ApprovalsDenied } from '../../components/holder.ts'
import type { BlueprintData } from '../../components/blueprint.ts'
import { Llm, type LlmData } from '../../components/llm.ts'
import { Permissions } from '../../components/permissions.ts'
import type { SubtaskData } from '../../components/subtask.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import type { World } from '../world/world.ts'

/**
 * What the agent of a subtask is made of: its own prompt and message, and the tools that it was given, as its caller has
 * them and may run them. Nothing else of the caller's.
 *
 * @returns the name of a tool that the caller has no longer, if there is one
 */
export function subtaskBlueprint(
  world: World,
  { agent, maxSteps, model, systemPrompt, tools: names }: SubtaskData,
): BlueprintData | string {
  const own = world.get(agent, ToolRegistry)?.tools ?? []
  const tools = own.filter(({ name, world: isWorldTool }) => names.includes(name) && isWorldTool !== true)
  const missing = names.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) return missing
  return {
    ...(world.has(agent, ApprovalsDenied) && { approvals: 'denied' as const }),
    ceiling: world.get(agent, ToolCeiling),
    ending: systemPrompt,
    hash: '',
    hostSkills: [],
    hostTools: [],
    llm: llmFor(world.get(agent, Llm), model),
    maxSteps,
    permissions: world.get(agent, Permissions),
    skills: [],
    template: '',
    tools,
  }
}

/** Another model comes with no options of the caller's, and none with tools of its provider's own. */
function llmFor(own: LlmData | undefined, model: string): LlmData {
  if (own?.model !== model) return { model }
  const { extra: _, ...options } = own
  return options
}
