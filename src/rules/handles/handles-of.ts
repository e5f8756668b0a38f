import type { BlueprintData } from '../../../components/sessions/blueprint.ts'
import {
  Handle,
  HandleCount,
  HandleText,
  type HandleData,
  type SharedHandles,
  Workspace,
} from '../../../components/agent/handle.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { permittedTools } from '../delegation/permissions.ts'

/** An agent's handles, in the order of their numbers. */
export function handlesOf(world: World, agent: Entity): readonly HandleData[] {
  return world.referrers(Handle, agent).map((handle) => world.read(handle, Handle))
}

/** The tool that reads them. */
export const readHandleName = 'read_handle'

export function mayReadHandles(world: World, agent: Entity): boolean {
  return permittedTools(world, agent).some(({ name }) => name === readHandleName)
}

/** Most handles of its parent that a fork knows, the newest. */
const maxShared = 200

/** What a fork of an agent knows of its handles. Values that are in `run_js` alone are lost to it. */
export function sharedHandles(world: World, agent: Entity): SharedHandles {
  const newest = world.get(agent, HandleCount)?.newest ?? 0
  const known = handlesOf(world, agent).slice(-maxShared)
  return { known: known.map(shared), newest }
}

function shared({ agent: _agent, ...handle }: HandleData): SharedHandles['known'][number] {
  return handle.isLive === true ? { ...handle, isLost: true } : handle
}

/** Gives a session's agent a workspace of its own. */
export function addWorkspace(world: World, agent: Entity, workspace: NonNullable<BlueprintData['workspace']>): void {
  world.add(agent, Workspace)
  if (workspace === true) return
  if (workspace.newest > 0) world.set(agent, HandleCount, { newest: workspace.newest })
  for (const handle of workspace.known) world.set(world.spawn(), Handle, { ...handle, agent })
}

/** Gives the World of a fork the contents of its parent's handles that only their World has. */
export function shareTexts(parent: World, fork: World): void {
  const known = fork.entitiesWith(Handle)
  if (known.length === 0) return
  const texts = new Map(
    parent.entitiesWith(HandleText).map((handle) => {
      return [parent.get(handle, Handle)?.recordPath, parent.read(handle, HandleText)]
    }),
  )
  for (const handle of known) {
    const text = texts.get(fork.read(handle, Handle).recordPath)
    if (text !== undefined) fork.set(handle, HandleText, text)
  }
}
