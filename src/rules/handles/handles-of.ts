import { Handle, type HandleData } from '../../../components/agent/handle.ts'
import { Permissions, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { ToolCeiling } from '../../../components/sessions/ancestry.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { isPermitted } from '../delegation/permissions.ts'

/** An agent's handles, in the order of their numbers. */
export function handlesOf(world: World, agent: Entity): readonly HandleData[] {
  return world.referrers(Handle, agent).map((handle) => world.read(handle, Handle))
}

/** The tool that reads them. */
export const readHandleName = 'read_handle'

export function mayReadHandles(world: World, agent: Entity): boolean {
  const tools = world.get(agent, ToolRegistry)?.tools ?? []
  if (!tools.some(({ name }) => name === readHandleName)) return false
  return isPermitted(readHandleName, world.get(agent, Permissions), world.get(agent, ToolCeiling)?.allowed)
}
