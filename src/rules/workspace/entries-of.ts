import { WorkspaceEntry, type WorkspaceEntryData } from '../../../components/agent/workspace-entry.ts'
import type { FileFact } from '../../protocol/file-fact.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** An agent's entries, in the order of their numbers. */
export function entriesOf(world: World, agent: Entity): readonly WorkspaceEntryData[] {
  return world.referrers(WorkspaceEntry, agent).map((entity) => world.read(entity, WorkspaceEntry))
}

/** Most files that are watched, those of the newest results. */
const maxFiles = 1_000

/** The files that an agent's results are from, as they were last seen. */
export function knownFiles(world: World, agent: Entity): readonly FileFact[] {
  const files = new Map<string, FileFact>()
  for (const { isStale, files: sources = [] } of entriesOf(world, agent).toReversed()) {
    for (const fact of isStale === true ? [] : sources) if (!files.has(fact.path)) files.set(fact.path, fact)
    if (files.size >= maxFiles) break
  }
  return [...files.values()]
}
