import { Permissions, type PermissionsData, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { ToolCeiling } from '../../../components/sessions/ancestry.ts'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** May an agent run a tool, given its permissions and its ceiling? */
export function isPermitted(
  name: string,
  { allowed, denied, granted }: PermissionsData = {},
  ceiling?: readonly string[],
): boolean {
  const isDenied = denied?.includes(name) === true && granted?.includes(name) !== true
  return !isDenied && allowed?.includes(name) !== false && ceiling?.includes(name) !== false
}

/** May an agent run a tool of that name, whether it has one or not? */
export function isPermittedTo(world: World, agent: Entity, name: string): boolean {
  return isPermitted(name, world.get(agent, Permissions), world.get(agent, ToolCeiling)?.allowed)
}

/** The tools that an agent has and may run. */
export function permittedTools(world: World, agent: Entity): readonly DeepReadonly<ToolDeclaration>[] {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  return tools.filter(({ name }) => isPermittedTo(world, agent, name))
}

/** The names of both lists, each once. */
export function allNames(first: readonly string[] = [], second: readonly string[] = []): readonly string[] {
  return second.length === 0 ? first : [...new Set([...first, ...second])]
}

/** The permissions of a session's agent, plus what was denied above it. */
export function deniedBesides(
  permissions: PermissionsData | undefined,
  denied: readonly string[] | undefined,
): PermissionsData | undefined {
  if (denied === undefined || denied.length === 0) return permissions
  return { ...permissions, denied: allNames(permissions?.denied, denied) }
}
