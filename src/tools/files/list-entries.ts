import type { ToolContext, ToolOutput } from '../port.ts'
import { cleanName } from './clean-text.ts'
import type { FileReach } from './confined-folder.ts'
import { FolderWalk, maxEntries } from './folder-walk.ts'
import { globTest } from './glob.ts'
import { refusable, Refusal } from './refusal.ts'
import { ResultLines } from './result-lines.ts'

const progressEntries = 5_000

/** Which entries to list. */
export interface ListRequest {
  readonly path: string
  readonly pattern?: string | undefined
  readonly recursive: boolean
  readonly hidden: boolean
  readonly limit: number
}

/** Does the work of `list_files`. */
export function listEntries(
  reach: FileReach,
  request: ListRequest,
  context: ToolContext,
): Promise<string | ToolOutput> {
  return refusable(request.path, () => list(reach, request, context))
}

async function list(reach: FileReach, input: ListRequest, context: ToolContext): Promise<string> {
  const { path, pattern, recursive, hidden, limit } = input
  const fits = pattern === undefined ? () => true : globTest(pattern)
  const start = await reach.find(path)
  if (!start.stats.isDirectory()) throw Refusal.of(path, 'is a file, not a folder.')
  const baseChars = start.path === '' ? 0 : start.path.length + 1
  const closed = await reach.closedBelow?.(start.realPath, context.policy)
  const walk = new FolderWalk(reach, start, { recursive, hidden, closed, signal: context.signal })
  const result = new ResultLines()
  let visited = 0
  let count = 0
  for await (const entry of walk) {
    if (++visited % progressEntries === 0) context.progress(`${visited} entries`)
    if (!fits(entry.path.slice(baseChars))) continue
    count++
    if (result.count < limit) result.add(cleanName(reach.shown(start.root, entry.path)))
  }
  const notes: string[] = []
  if (count === 0)
    notes.push(pattern === undefined || recursive ? 'no entries' : 'no entries; recursive=true looks below')
  if (walk.isCut) notes.push(`${result.count} of ${count} shown; only the first ${maxEntries} entries were looked at`)
  else if (result.count < count) notes.push(`${result.count} of ${count} shown`)
  if (walk.unreadable > 0) notes.push(`${walk.unreadable} folders could not be read`)
  return result.text([...notes, ...walk.leftOut.notes()])
}
