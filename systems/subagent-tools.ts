import { Ancestry } from '../components/ancestry.ts'
import { SubagentRegistry, type SubagentRegistryData } from '../components/subagent-registry.ts'
import type { ToolDeclaration } from '../components/tool-declaration.ts'
import { ToolRegistry } from '../components/tool-registry.ts'
import { subagentDeclarations, subagentToolNames } from '../src/subagents/declarations.ts'
import type { DeepReadonly, Entity } from '../src/world/component.ts'
import type { World } from '../src/world/world.ts'
import { readyAgents } from './ready-agents.ts'
import { tell } from './tell.ts'

export interface SubagentToolsOptions {
  readonly maxStartsPerTick: number
  /** Agents that have tools get a registry if they have none, and free-form is on in it. */
  readonly allowUnregisteredSubagents: boolean
}

/** Which registry an agent's tools were made for: worked out anew after a restore. */
const madeFor = new WeakMap<readonly ToolDeclaration[], DeepReadonly<SubagentRegistryData>>()
const openRegistry = { freeForm: { enabled: true }, subagents: {} }

/**
 * Gives the agents that are about to think and may delegate the `subagent` tools, declared as their registry has it.
 *
 * Query: the agents that reasoning will start. Writes: ToolRegistry, SubagentRegistry.
 */
export function subagentTools({ maxStartsPerTick, allowUnregisteredSubagents }: SubagentToolsOptions) {
  return {
    name: 'subagent-tools',
    priority: -4,
    run(world: World): void {
      // Mostly nobody has a registry, and then nobody has to be looked at.
      const delegating = allowUnregisteredSubagents ? [] : [SubagentRegistry]
      for (const agent of readyAgents(world, maxStartsPerTick, ...delegating)) {
        if (allowUnregisteredSubagents) allowAnyName(world, agent)
        const registry = world.get(agent, SubagentRegistry)
        if (registry !== undefined) declareTools(world, agent, registry)
      }
    },
  }
}

/** In a session only an agent that has inherited a registry may delegate at all. */
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
  if (madeFor.get(tools) === registry) return
  const own = tools.filter(({ name, world: isWorldTool }) => isWorldTool !== true || !isSubagentTool(name))
  for (const { name } of own.filter((tool) => isSubagentTool(tool.name))) {
    tell(world, 'warning', { agent, message: `The tool '${name}' of this agent hides the one that delegates.` })
  }
  const declared = subagentDeclarations(registry).filter(({ name }) => !own.some((tool) => tool.name === name))
  const next = withTools(tools, own, declared)
  const isSame = next.length === tools.length && JSON.stringify(next) === JSON.stringify(tools)
  if (!isSame) world.set(agent, ToolRegistry, { tools: [...next] })
  madeFor.set(world.read(agent, ToolRegistry).tools, registry)
}

/** The tools stay where they stand, so that a registry that has changed costs no more of the prompt cache than it must. */
function withTools(
  tools: readonly ToolDeclaration[],
  own: readonly ToolDeclaration[],
  declared: readonly ToolDeclaration[],
): readonly ToolDeclaration[] {
  const place = tools.findIndex((tool) => tool.world === true && isSubagentTool(tool.name))
  const before = place === -1 ? own.length : tools.slice(0, place).filter((tool) => own.includes(tool)).length
  return [...own.slice(0, before), ...declared, ...own.slice(before)]
}

function isSubagentTool(name: string): boolean {
  return (subagentToolNames as readonly string[]).includes(name)
}
