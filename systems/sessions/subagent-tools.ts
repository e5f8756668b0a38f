import { Unread } from '../../components/agent/conversation.ts'
import { Ancestry } from '../../components/sessions/ancestry.ts'
import { SubagentRegistry, type SubagentRegistryData } from '../../components/sessions/subagent-registry.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { subagentDeclarations, subagentToolNames } from '../../src/rules/delegation/declarations.ts'
import { oncePerObject } from '../../src/rules/once-per.ts'
import type { DeepReadonly, Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, readyAgents } from '../kit.ts'

export interface SubagentToolsOptions {
  readonly maxStartsPerTick: number
  /** Give agents with tools a registry if they have none, with free-form on. */
  readonly allowUnregisteredSubagents: boolean
}

/** The registry that a list of tools was declared for. */
const declaredFor = () => new WeakMap<readonly ToolDeclaration[], DeepReadonly<SubagentRegistryData>>()
const openRegistry = { freeForm: { enabled: true }, subagents: {} }

/**
 * Gives agents with a `SubagentRegistry` the `subagent` tools before a model call, and removes them from others.
 * Writes: ToolRegistry, SubagentRegistry.
 */
export function subagentTools({ maxStartsPerTick, allowUnregisteredSubagents }: SubagentToolsOptions) {
  return {
    name: 'subagent-tools',
    priority: -4,
    wakes: [Unread],
    run(world: World): void {
      for (const agent of readyAgents(world, maxStartsPerTick)) {
        if (allowUnregisteredSubagents) allowAnyName(world, agent)
        const registry = world.get(agent, SubagentRegistry)
        if (registry === undefined) dropSubagentTools(world, agent)
        else declareTools(world, agent, registry)
      }
    },
  }
}

const haveDelegating = oncePerObject((tools: readonly ToolDeclaration[]) => tools.some(isDelegating))

export function dropSubagentTools(world: World, agent: Entity): void {
  const tools = world.get(agent, ToolRegistry)?.tools
  if (tools === undefined || world.has(agent, SubagentRegistry) || !haveDelegating(tools)) return
  world.set(agent, ToolRegistry, { tools: tools.filter((tool) => !isDelegating(tool)) })
}

/** In a session only an agent that inherited a registry may delegate. */
function allowAnyName(world: World, agent: Entity): void {
  const registry = world.get(agent, SubagentRegistry)
  if (registry === undefined) {
    const isIncluded = world.has(agent, ToolRegistry) && !world.has(agent, Ancestry)
    if (isIncluded) world.set(agent, SubagentRegistry, openRegistry)
  } else if (registry.freeForm?.enabled !== true) {
    world.patch(agent, SubagentRegistry, { freeForm: { ...registry.freeForm, enabled: true } })
  }
}

function declareTools(world: World, agent: Entity, registry: DeepReadonly<SubagentRegistryData>): void {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  if (world.unsaved(declaredFor).get(tools) === registry) return
  const own = tools.filter((tool) => !isDelegating(tool))
  for (const { name } of own.filter((tool) => isSubagentTool(tool.name))) {
    emit(world, 'warning', { agent, message: `The tool '${name}' of this agent hides the one that delegates.` })
  }
  const declared = subagentDeclarations(registry).filter(({ name }) => !own.some((tool) => tool.name === name))
  const next = withTools(tools, own, declared)
  const isSame = next.length === tools.length && JSON.stringify(next) === JSON.stringify(tools)
  if (!isSame) world.set(agent, ToolRegistry, { tools: [...next] })
  world.unsaved(declaredFor).set(world.read(agent, ToolRegistry).tools, registry)
}

/** The tools keep their place, so that a changed registry preserves as much of the prompt cache as it can. */
function withTools(
  tools: readonly ToolDeclaration[],
  own: readonly ToolDeclaration[],
  declared: readonly ToolDeclaration[],
): readonly ToolDeclaration[] {
  const place = tools.findIndex(isDelegating)
  const before = place === -1 ? own.length : tools.slice(0, place).filter((tool) => own.includes(tool)).length
  return [...own.slice(0, before), ...declared, ...own.slice(before)]
}

function isDelegating({ name, world: isWorldTool }: ToolDeclaration): boolean {
  return isWorldTool === true && isSubagentTool(name)
}

export function isSubagentTool(name: string): boolean {
  return (subagentToolNames as readonly string[]).includes(name)
}
