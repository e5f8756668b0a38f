import { Context } from '../../components/context.ts'
import { Llm } from '../../components/llm.ts'
import { SubagentRegistry } from '../../components/subagent-registry.ts'
import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import { parseModel } from '../models/model-name.ts'
import { subagentToolNames } from '../subagents/declarations.ts'
import type { Entity } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { World } from '../world/world.ts'
import type { Host } from './host.ts'

/** A key of the configuration, as files have it. */
const smallModelPath = 'context.agentic.small_model'

/**
 * Refuses a world that needs what the Host lacks, before it ticks.
 *
 * @param gone tools that an earlier Host had: what becomes of those is another question
 * @throws `unknown-provider`, `config-invalid` for a small model whose provider is unknown, `missing-handler`, `tool-conflict`
 */
export function checkParts(world: World, host: Host, gone: ReadonlySet<string>): void {
  // Straight from the columns: bitECS is not to follow these components for one look at the start.
  const { state } = world.core
  if (world.systems.length === 0) {
    const what = `World '${world.name}' has no systems, so nothing would ever happen in it`
    throw new EntiaError('invalid-argument', `${what}. Write new World({ systems: standardSystems() }).`)
  }
  for (const agent of state.holders(Llm)) {
    const { model } = world.read(agent, Llm)
    const problem = providerProblem(host, agent, 'the model', model)
    if (problem !== undefined) throw new EntiaError('unknown-provider', problem, { entity: agent, model })
  }
  for (const agent of state.holders(Context)) {
    const { smallModel, tools } = world.read(agent, Context).agentic
    // By its bare name, it is one of the agent's own provider.
    if (!tools || smallModel?.includes('/') !== true) continue
    const problem = providerProblem(host, agent, smallModelPath, smallModel)
    if (problem === undefined) continue
    throw new EntiaError('config-invalid', problem, { entity: agent, model: smallModel, path: smallModelPath })
  }
  const seen = new Set<unknown>()
  for (const agent of state.holders(ToolRegistry)) {
    const { tools } = world.read(agent, ToolRegistry)
    if (seen.has(tools)) continue
    seen.add(tools)
    assertNoConflict(world, agent, tools)
    const missing = tools.find(({ name, world: isWorldTool }) => {
      return isWorldTool !== true && host.tool(name) === undefined && !gone.has(name)
    })
    if (missing === undefined) continue
    throw new EntiaError(
      'missing-handler',
      `Entity ${agent} has the tool '${missing.name}', and the host has no handler for it. Pass it in 'tools'.`,
      { entity: agent, tool: missing.name },
    )
  }
}

/** What is wrong with a model of an agent, if the host has no provider for it. */
function providerProblem(host: Host, agent: Entity, what: string, model: string): string | undefined {
  const { provider } = parseModel(model)
  if (host.hasProvider(provider)) return undefined
  return (
    `Entity ${agent} has ${what} '${model}', and there is no provider '${provider}'. ` +
    `Known: ${host.providerNames.join(', ')}. Pass it in 'models'.`
  )
}

/** An agent that may delegate has the `subagent` tools: none of its own goes by one of their names. */
function assertNoConflict(world: World, agent: Entity, tools: readonly ToolDeclaration[]): void {
  if (!world.has(agent, SubagentRegistry)) return
  const names: readonly string[] = subagentToolNames
  const own = tools.find((tool) => tool.world !== true && names.includes(tool.name))
  if (own === undefined) return
  throw new EntiaError(
    'tool-conflict',
    `Entity ${agent} has a SubagentRegistry, which brings the tool '${own.name}', and one of its own by that name. Rename that one.`,
    { entity: agent, tool: own.name },
  )
}
