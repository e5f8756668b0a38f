import { z } from 'zod'
import { EntiaError } from '../base/entia-error.ts'
import { defineTool } from './define-tool.ts'
import type { FileReach } from './files/confined-folder.ts'
import type { GrepRequest } from './files/grep-lines.ts'
import { maxLineChars } from './files/limits.ts'
import type { Tool, ToolContext, ToolOutput } from './port.ts'
import type { ToolDeclaration } from '../protocol/tool-declaration.ts'
import { schemaIssues } from '../rules/text/schema-issues.ts'

/** Options of `fileTools`. */
export interface FileToolsOptions {
  /** A path or a `file:` URL. Nothing outside can be reached, links included. */
  readonly folder: string | URL
}

/** The tools of `fileTools`, by name. */
export interface FileTools {
  /** `read_file`: lines of a text file. */
  readonly readFile: Tool
  /** `list_files`: what is in a folder. */
  readonly listFiles: Tool
  /** `grep_files` */
  readonly grepFiles: Tool
}

const optionsSchema = () =>
  z.strictObject({
    folder: z.union([
      z.string().min(1),
      z.instanceof(URL).refine(({ protocol }) => protocol === 'file:', 'expected a file: URL'),
    ]),
  })

/**
 * Tools to read in one folder, all `pure`. There is no approval, but `grep_files` never opens credential files.
 *
 * @throws `invalid-argument` for wrong options
 */
export function fileTools(options: FileToolsOptions): FileTools {
  const checked = optionsSchema().safeParse(options)
  if (!checked.success) {
    throw new EntiaError('invalid-argument', `fileTools: ${schemaIssues(checked.error)}. Give { folder: 'docs' }.`)
  }
  const folder = absolute(options.folder)
  const reach = async () => new (await import('./files/confined-folder.ts')).ConfinedFolder(folder)
  return Object.freeze({
    readFile: readFileTool(reach),
    listFiles: listFilesTool(reach),
    grepFiles: defineTool({ ...grepFilesOptions(), run: (input, context) => grepLines(reach, input, context) }),
  })
}

/** Loads the reach of file tools at the first call. */
export type Reach = () => Promise<FileReach>

export type Declared = Pick<ToolDeclaration, 'operation' | 'paths' | 'category'>

/** Resolved against the current working folder, whatever that is at the call. */
function absolute(folder: string | URL): string {
  if (typeof folder === 'string') return process.getBuiltinModule('node:path').resolve(folder)
  return process.getBuiltinModule('node:url').fileURLToPath(folder)
}

const maxGlobChars = 1_000

const maxLines = 2_000

const readSchema = () =>
  z.strictObject({
    path: z.string().min(1).describe('From the working folder.'),
    from: z.int().min(1).default(1).describe('First line.'),
    lines: z.int().min(1).max(maxLines).default(maxLines),
    lineNumbers: z.boolean().default(true).describe('Number and tab before each line.'),
  })

export function readFileTool(reach: Reach, declared: Declared = {}): Tool {
  return defineTool({
    name: 'read_file',
    description: `Reads up to ${maxLines} lines of a text file, each cut at ${maxLineChars} characters.`,
    input: readSchema(),
    restart: 'pure',
    ...declared,
    run: async (input, context) => (await import('./files/read-lines.ts')).readLines(await reach(), input, context),
  })
}

const maxEntriesListed = 5_000

const listSchema = () =>
  z.strictObject({
    path: z.string().min(1).default('.'),
    pattern: z
      .string()
      .min(1)
      .max(maxGlobChars)
      .optional()
      .describe('Only what fits, from path: `*.ts` at any depth, `src/**/*.{ts,tsx}`, `*/` for folders.'),
    recursive: z.boolean().default(false),
    hidden: z.boolean().default(false),
    limit: z.int().min(1).max(maxEntriesListed).default(200),
  })

export function listFilesTool(reach: Reach, declared: Declared = {}): Tool {
  return defineTool({
    name: 'list_files',
    description: 'Lists files and folders, sorted; folders end in /. What .gitignore files name is left out.',
    input: listSchema(),
    restart: 'pure',
    ...declared,
    run: async (input, context) => (await import('./files/list-entries.ts')).listEntries(await reach(), input, context),
  })
}

const maxMatches = 1_000
const maxContext = 20

const grepSchema = () =>
  z.strictObject({
    pattern: z.string().min(1).max(10_000).describe('Regular expression.'),
    path: z.string().min(1).default('.').describe('File or folder.'),
    glob: z
      .string()
      .min(1)
      .max(maxGlobChars)
      .optional()
      .describe('Only files that fit: `*.ts` at any depth, `src/**`.'),
    ignoreCase: z.boolean().default(false),
    literal: z.boolean().default(false),
    context: z.int().min(0).max(maxContext).default(0).describe('Lines around each match.'),
    limit: z.int().min(1).max(maxMatches).default(200),
  })

export function grepFilesOptions() {
  return {
    name: 'grep_files',
    description:
      'Searches lines of text files, hidden ones too. ' +
      'Leaves out what .gitignore files name, .git, binary files and credentials.',
    input: grepSchema(),
    restart: 'pure',
    timeoutMs: 20_000,
  } as const
}

async function grepLines(reach: Reach, request: GrepRequest, context: ToolContext): Promise<string | ToolOutput> {
  return (await import('./files/grep-lines.ts')).grepLines(await reach(), request, context)
}
