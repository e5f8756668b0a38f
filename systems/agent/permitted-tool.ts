import { Ancestry, ToolCeiling } from '../../components/sessions/ancestry.ts'
import { Permissions } from '../../components/agent/permissions.ts'
import type { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'
import { ToolRegistry } from '../../components/agent/tool-registry.ts'
import { isPermitted } from '../../src/rules/delegation/is-permitted.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** A tool that the agent has and is permitted to run, or why it may not. */
export function permittedTool(
  world: World,
  agent: Entity,
  name: string,
): { readonly declaration: ToolDeclaration } | { readonly problem: string } {
  const declaration = world.get(agent, ToolRegistry)?.tools.find((tool) => tool.name === name)
  if (declaration === undefined) return { problem: `there is no tool named ${name}.` }
  const ceiling = world.get(agent, ToolCeiling)?.allowed
  if (isPermitted(name, world.get(agent, Permissions), ceiling)) return { declaration }
  const isFork = world.get(agent, Ancestry)?.sessions.at(-1)?.kind === 'fork'
  return { problem: isFork ? `tool '${name}' is not allowed in this fork` : `tool '${name}' is not permitted.` }
}
