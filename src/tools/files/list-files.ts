import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool, ToolContext } from '../port.ts'
import { cleanName } from './clean-text.ts'
import type { ConfinedFolder } from './confined-folder.ts'
import { FolderWalk, maxEntries } from './folder-walk.ts'
import { globTest, maxGlobChars } from './glob.ts'
import { refusable, Refusal } from './refusal.ts'
import { ResultLines } from './result-lines.ts'

const maxLimit = 5_000
const progressEntries = 5_000

const Input = z.strictObject({
  path: z.string().min(1).default('.').describe('Path of the folder to list, from the folder of the tools.'),
  pattern: z
    .string()
    .min(1)
    .max(maxGlobChars)
    .optional()
    .describe('Lists only what fits, counted from path: `*.ts` at any depth, `src/**/*.{ts,tsx}`, `*/` for folders.'),
  recursive: z.boolean().default(false).describe('Goes into the folders below, too.'),
  hidden: z.boolean().default(false).describe('Lists names that begin with a dot, too.'),
  limit: z.int().min(1).max(maxLimit).default(200),
})

/** The tool `list_files`: what is in a folder. */
export function listFilesTool(folder: ConfinedFolder): Tool {
  return defineTool({
    name: 'list_files',
    description: 'Lists files and folders, sorted; folders end in /. What .gitignore files name is left out.',
    input: Input,
    restart: 'pure',
    run: (input, context) => refusable(input.path, () => list(folder, input, context)),
  })
}

async function list(folder: ConfinedFolder, input: z.infer<typeof Input>, context: ToolContext): Promise<string> {
  const { path, pattern, recursive, hidden, limit } = input
  const fits = pattern === undefined ? () => true : globTest(pattern)
  const start = await folder.find(path)
  if (!start.stats.isDirectory()) throw Refusal.of(path, 'is a file; read_file shows it.')
  const baseChars = start.path === '' ? 0 : start.path.length + 1
  const walk = new FolderWalk(folder, start, { recursive, hidden, signal: context.signal })
  const result = new ResultLines()
  let visited = 0
  let count = 0
  for await (const entry of walk) {
    if (++visited % progressEntries === 0) context.progress(`${visited} entries`)
    if (!fits(entry.path.slice(baseChars))) continue
    count++
    if (result.count < limit) result.add(cleanName(entry.path))
  }
  const notes: string[] = []
  if (count === 0)
    notes.push(pattern === undefined || recursive ? 'no entries' : 'no entries; recursive=true looks below')
  if (walk.isCut) notes.push(`${result.count} of ${count} shown; only the first ${maxEntries} entries were looked at`)
  else if (result.count < count) notes.push(`${result.count} of ${count} shown`)
  if (walk.unreadable > 0) notes.push(`${walk.unreadable} folders could not be read`)
  return result.text(notes)
}
