import type { WorldEntry } from '../../reading/wire.ts'

/** A world in the tree of all. */
export interface TreeRow {
  readonly entry: WorldEntry
  readonly level: number
  readonly children: number
  readonly isFolded: boolean
}

/** Worlds with those below them, in the order in which they are known; below one that is folded none. */
export function treeRows(
  worlds: ReadonlyMap<string, WorldEntry>,
  folded: ReadonlySet<string>,
  parentOf: (entry: WorldEntry) => string | undefined = ({ parent, root }) => parent ?? root,
): readonly TreeRow[] {
  const below = new Map<string | undefined, WorldEntry[]>()
  for (const entry of worlds.values()) {
    const parent = parentOf(entry)
    const known = parent !== undefined && parent !== entry.name && worlds.has(parent) ? parent : undefined
    const others = below.get(known)
    if (others === undefined) below.set(known, [entry])
    else others.push(entry)
  }
  const rows: TreeRow[] = []
  const add = (entry: WorldEntry, level: number): void => {
    const children = below.get(entry.name) ?? []
    const isFolded = folded.has(entry.name)
    rows.push({ entry, level, children: children.length, isFolded })
    // A circle of parents would have no row above it, so each world is added at most once.
    if (!isFolded) for (const child of children) add(child, level + 1)
  }
  for (const entry of below.get(undefined) ?? []) add(entry, 0)
  return rows
}
