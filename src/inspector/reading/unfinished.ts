import type { WorldWaits } from './waits.ts'
import type { WorldEntry } from './wire.ts'

/**
 * The worlds of a saved run in which something can be in flight: no one says so of them, so they are found from the roots down, by
 * the sessions and subtasks that those above them wait for. The others are not read, however many there are.
 */
export async function unfinished(
  entries: readonly WorldEntry[],
  waitsOf: (entry: WorldEntry) => Promise<WorldWaits | undefined>,
): Promise<readonly WorldEntry[]> {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  // A copy that is driven here is looked at, whatever its original was.
  const found = new Set(entries.filter(({ isDriven, root }) => root === undefined || isDriven === true))
  for (const entry of found) {
    const { names = {}, waits = [] } = (await waitsOf(entry)) ?? {}
    for (const below of [...Object.keys(names), ...waits.flatMap(({ on }) => on ?? [])]) {
      const child = byName.get(below)
      if (child !== undefined) found.add(child)
    }
  }
  return entries.filter((entry) => found.has(entry))
}
