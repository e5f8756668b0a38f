import type { WorkspaceEntryData } from '../../../components/agent/workspace-entry.ts'

/** An entry that is not pinned stays for so many turns. */
const maxTurns = 50
const maxSizeBytes = 5_000_000

/** Entries that go: old ones, and then the largest until 5 MB are left. What is pinned stays. */
export function prunable(entries: readonly WorkspaceEntryData[], turn: number): readonly WorkspaceEntryData[] {
  const isOld = (entry: WorkspaceEntryData): boolean => entry.isPinned !== true && turn - entry.turn > maxTurns
  const gone = entries.filter(isOld)
  let sizeBytes = entries.reduce((sum, entry) => sum + (isOld(entry) ? 0 : entry.sizeBytes), 0)
  if (sizeBytes <= maxSizeBytes) return gone
  const largest = entries
    .filter((entry) => entry.isPinned !== true && !isOld(entry))
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes || a.number - b.number)
  for (const entry of largest) {
    if (sizeBytes <= maxSizeBytes) break
    gone.push(entry)
    sizeBytes -= entry.sizeBytes
  }
  return gone
}
