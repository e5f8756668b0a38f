import type { ToolContext, ToolOutput } from '../port.ts'
import type { FileReach } from './confined-folder.ts'
import { FileSearch, maxMatchedChars, maxSearchBytes } from './file-search.ts'
import { FolderWalk, maxEntries } from './folder-walk.ts'
import { globTest } from './glob.ts'
import { LineMatcher } from './line-matcher.ts'
import { refusable, Refusal } from './refusal.ts'

const progressFiles = 500

/** What to search for, and where. */
export interface GrepRequest {
  readonly pattern: string
  readonly path: string
  readonly glob?: string | undefined
  readonly ignoreCase: boolean
  readonly literal: boolean
  /** Lines before and after each match. */
  readonly context: number
  readonly limit: number
}

/** Does the work of `grep_files`, in this process. */
export function grepLines(reach: FileReach, request: GrepRequest, context: ToolContext): Promise<string | ToolOutput> {
  return refusable(request.path, () => grep(reach, request, context))
}

async function grep(reach: FileReach, input: GrepRequest, context: ToolContext): Promise<string> {
  const matcher = new LineMatcher(input.pattern, input)
  const fits = input.glob === undefined ? () => true : globTest(input.glob)
  const start = await reach.find(input.path)
  const { limit, context: around } = input
  const { policy, signal } = context
  const closed = await reach.closedBelow?.(start.realPath, policy)
  const search = new FileSearch({ matcher, limit, context: around, reach, closed, signal })
  if (!start.stats.isDirectory()) {
    if (!start.stats.isFile()) throw Refusal.of(input.path, 'is no regular file.')
    await search.file(start.root, start.path)
    return search.result.text(notes(search, undefined))
  }
  const { leftOut } = search
  const walk = new FolderWalk(reach, start, { recursive: true, hidden: true, closed, leftOut, signal })
  const baseChars = start.path === '' ? 0 : start.path.length + 1
  let visited = 0
  for await (const { path, kind } of walk) {
    if (kind !== 'file' || !fits(path.slice(baseChars)) || /(^|\/)\.git$/.test(path)) continue
    await search.file(start.root, path)
    if (++visited % progressFiles === 0) context.progress(`${search.files} files searched, ${search.matches} matches`)
    if (search.end !== undefined) break
  }
  return search.result.text(notes(search, walk))
}

function notes(search: FileSearch, walk: FolderWalk | undefined): string[] {
  const all: string[] = []
  if (search.matches === 0) all.push('no matches')
  if (search.end === 'matches')
    all.push(`${search.matches} matches shown; there are more: narrow pattern, path or glob`)
  if (search.end === 'bytes') all.push(`stopped after ${maxSearchBytes / 1024 / 1024} MB; narrow path or glob`)
  if (walk?.isCut === true) all.push(`only the first ${maxEntries} entries were looked at; narrow path`)
  if (search.longLines > 0)
    all.push(`${search.longLines} lines searched only in their first ${maxMatchedChars} characters`)
  const unreadable = search.unreadable + (walk?.unreadable ?? 0)
  if (unreadable > 0) all.push(`${unreadable} files or folders could not be read`)
  return [...all, ...search.leftOut.notes()]
}
