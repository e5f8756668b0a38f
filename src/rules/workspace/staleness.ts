import type { WorkspaceEntryData } from '../../../components/agent/workspace-entry.ts'
import type { FileFact } from '../../protocol/file-fact.ts'
import { oncePerObject } from '../once-per.ts'

type Entry = WorkspaceEntryData

/** An entry that is from a file. */
interface Source {
  readonly entry: Entry
  readonly fact: FileFact
}

/**
 * Entries that are not to be trusted any more. A later result makes an entry stale: one for the same question, one of a call
 * that wrote its file, and one that found its file with another size or time. With an entry go all that were made from it,
 * however deep.
 *
 * @param entries of one agent, in the order of their numbers
 * @param compared number of the newest entry that had been there the last time
 */
export function newlyStale(entries: readonly Entry[], compared: number): ReadonlySet<Entry> {
  if ((entries.at(-1)?.number ?? 0) <= compared) return none
  const stale = new Set<Entry>()
  const asked = new Map<string, Entry>()
  const sources = new Map<string, Source[]>()
  for (const entry of entries) {
    if (entry.number > compared) {
      const before = asked.get(question(entry))
      if (before !== undefined) stale.add(before)
      for (const fact of entry.changed ?? []) outdate(sources.get(fact.path), stale)
      for (const fact of entry.files ?? []) outdate(sources.get(fact.path), stale, fact)
    }
    if (entry.isStale === true) continue
    asked.set(question(entry), entry)
    for (const fact of entry.files ?? []) {
      const known = sources.get(fact.path)
      if (known === undefined) sources.set(fact.path, [{ entry, fact }])
      else known.push({ entry, fact })
    }
  }
  addDependents(entries, stale)
  return stale
}

/** Entries that a change of files makes stale. */
export function outdatedBy(entries: readonly Entry[], changed: readonly FileFact[]): ReadonlySet<Entry> {
  const now = new Map(changed.map((fact) => [fact.path, fact]))
  const isOutdated = ({ files = [], isStale }: Entry): boolean =>
    isStale !== true && files.some((fact) => isChanged(fact, now.get(fact.path) ?? fact))
  const stale = new Set(entries.filter(isOutdated))
  addDependents(entries, stale)
  return stale
}

const none: ReadonlySet<Entry> = new Set()

const question = oncePerObject(({ asked, key }: Entry) => `${asked} ${key}`)

/** @param unless the file as it is now: what was made from it as it is stays */
function outdate(sources: readonly Source[] | undefined, stale: Set<Entry>, unless?: FileFact): void {
  for (const { entry, fact } of sources ?? []) if (unless === undefined || isChanged(fact, unless)) stale.add(entry)
}

/** What is not known of a file has not changed. */
export function isChanged(before: FileFact, now: FileFact): boolean {
  if (before.changedMs === undefined || now.changedMs === undefined) return false
  return before.changedMs !== now.changedMs || before.sizeBytes !== now.sizeBytes
}

function addDependents(entries: readonly Entry[], stale: Set<Entry>): void {
  const dependents = new Map<number, Entry[]>()
  for (const entry of entries) {
    if (entry.isStale === true) continue
    for (const handle of entry.deps ?? []) {
      const known = dependents.get(handle)
      if (known === undefined) dependents.set(handle, [entry])
      else known.push(entry)
    }
  }
  if (dependents.size === 0) return
  const open = entries.filter((entry) => entry.isStale === true || stale.has(entry))
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    for (const handle of entry.handles ?? []) {
      for (const dependent of dependents.get(handle) ?? []) {
        if (stale.has(dependent)) continue
        stale.add(dependent)
        open.push(dependent)
      }
    }
  }
}
