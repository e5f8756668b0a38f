import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool, ToolContext } from '../port.ts'
import type { ConfinedFolder } from './confined-folder.ts'
import { FileSearch, maxMatchedChars, maxSearchBytes } from './file-search.ts'
import { FolderWalk, maxEntries } from './folder-walk.ts'
import { globTest, maxGlobChars } from './glob.ts'
import { LineMatcher } from './line-matcher.ts'
import { refusable, Refusal } from './refusal.ts'

const maxLimit = 1_000
const maxContext = 20
const progressFiles = 500

const Input = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .describe('Regular expression of JavaScript, matched against each line on its own.'),
  path: z.string().min(1).default('.').describe('Path of the file or folder to search, from the folder of the tools.'),
  glob: z
    .string()
    .min(1)
    .max(maxGlobChars)
    .optional()
    .describe('Searches only files that fit, counted from path: `*.ts` at any depth, `src/**/*.{ts,tsx}`.'),
  ignoreCase: z.boolean().default(false),
  literal: z.boolean().default(false).describe('Takes the pattern as plain text.'),
  context: z.int().min(0).max(maxContext).default(0).describe('Lines shown before and behind each match.'),
  limit: z.int().min(1).max(maxLimit).default(200).describe('Most matching lines.'),
})

/** The tool `grep_files`: lines that match a pattern, in a file or in all files of a folder. */
export function grepFilesTool(folder: ConfinedFolder): Tool {
  return defineTool({
    name: 'grep_files',
    description:
      'Searches text files and gives lines as `path:line: text`, lines of context as `path-line- text`. ' +
      'Hidden files are searched; what .gitignore files name, .git, binary files and files with credentials are not.',
    input: Input,
    restart: 'pure',
    timeoutMs: 20_000,
    run: (input, context) => refusable(input.path, () => grep(folder, input, context)),
  })
}

async function grep(folder: ConfinedFolder, input: z.infer<typeof Input>, context: ToolContext): Promise<string> {
  const matcher = new LineMatcher(input.pattern, input)
  const fits = input.glob === undefined ? () => true : globTest(input.glob)
  const start = await folder.find(input.path)
  const search = new FileSearch({ matcher, limit: input.limit, context: input.context, signal: context.signal })
  if (!start.stats.isDirectory()) {
    if (!start.stats.isFile()) throw Refusal.of(input.path, 'is no regular file.')
    await search.file(start.root, start.path)
    return search.result.text(notes(search, undefined))
  }
  const walk = new FolderWalk(folder, start, { recursive: true, hidden: true, signal: context.signal })
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
  if (search.credentialFiles > 0) all.push(`${search.credentialFiles} credential files skipped`)
  return all
}
