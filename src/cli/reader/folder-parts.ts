/** What one researcher reads: files and folders; none stands for the whole folder. */
export type FolderPart = readonly string[]

const maxParts = 5
/** Most names in one part: they become one pattern. */
const maxNames = 80

/**
 * Splits what is in a folder into a few parts, in order: each entry is one, or, where there are many, the folders are
 * dealt out, and the files beside them are one part. Without folders there is nothing to split by.
 */
export function folderParts(entries: readonly string[]): FolderPart[] {
  const names = entries.map((entry) => entry.replace(/\/$/, ''))
  if (entries.length <= maxParts) return names.map((name) => [name])
  const folders = names.filter((_, index) => entries[index]?.endsWith('/') === true)
  const files = names.filter((name) => !folders.includes(name))
  if (folders.length === 0) return [[]]
  const ofFiles = files.length === 0 ? [] : [files.slice(0, maxNames)]
  return [...dealt(folders, maxParts - ofFiles.length), ...ofFiles]
}

/** In at most so many runs of about the same length. */
function dealt(names: readonly string[], maxRuns: number): FolderPart[] {
  const runs = Math.min(names.length, maxRuns)
  const starts = Array.from({ length: runs + 1 }, (_, run) => Math.floor((run * names.length) / runs))
  return starts.slice(0, -1).map((start, run) => names.slice(start, Math.min(starts[run + 1] ?? 0, start + maxNames)))
}
