import { Llm } from '../../components/llm.ts'
import { ToolRegistry } from '../../components/tool-registry.ts'
import { parseModel } from '../models/model-name.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { World } from '../world/world.ts'
import type { Host } from './host.ts'

/**
 * Refuses a world that needs what the Host lacks, before it ticks.
 *
 * @throws `unknown-provider`, `missing-handler`
 */
export function checkParts(world: World, host: Host): void {
  // Straight from the columns: bitECS is not to follow these components for one look at the start.
  const { state } = world.core
  for (const agent of state.holders(Llm)) {
    const { model } = world.read(agent, Llm)
    const { provider } = parseModel(model)
    if (host.hasProvider(provider)) continue
    throw new EntiaError(
      'unknown-provider',
      `Entity ${agent} has the model '${model}', and there is no provider '${provider}'. ` +
        `Known: ${host.providerNames.join(', ')}. Pass it in 'models'.`,
      { entity: agent, model },
    )
  }
  const seen = new Set<unknown>()
  for (const agent of state.holders(ToolRegistry)) {
    const { tools } = world.read(agent, ToolRegistry)
    if (seen.has(tools)) continue
    seen.add(tools)
    const missing = tools.find(({ name }) => host.tool(name) === undefined)
    if (missing === undefined) continue
    throw new EntiaError(
      'missing-handler',
      `Entity ${agent} has the tool '${missing.name}', and the host has no handler for it. Pass it in 'tools'.`,
      { entity: agent, tool: missing.name },
    )
  }
}
