import { type RawView, read } from './raw-view.ts'
import type { SourceKind, WorldEntry } from './wire.ts'

/**
 * Whether a stored world was left with work in flight: who drove it has ended, and no one has taken it up. What of that work has
 * happened, no one knows.
 */
export function isLeftBehind(entry: WorldEntry, root: WorldEntry | undefined, kind: SourceKind): boolean {
  if (kind !== 'store' || entry.isBusy !== true || entry.copyOf !== undefined) return false
  return [entry, root].every((one) => one?.heldBy === undefined && one?.isDriven !== true)
}

/** What was in flight, in words. */
export function inFlight(world: RawView): readonly string[] {
  const open = new Set([...world.entitiesWith('Pending'), ...world.entitiesWith('Running')])
  return [...open]
    .toSorted((a, b) => a - b)
    .flatMap((entity) => {
      const effect = read(world, entity, 'Effect')
      if (effect === undefined) return []
      const what = read(world, entity, 'ToolCall')?.name ?? read(world, entity, 'SubagentSession')?.category
      const owner = read(world, entity, 'OwnedBy')?.agent
      const whose = owner === undefined ? '' : ` of agent ${owner}`
      return [`#${entity} ${effect.kind}${what === undefined ? '' : ` ${what}`}${whose}`]
    })
}
