import { z } from 'zod'
import { EntiaError } from '../world/entia-error.ts'
import { grepFilesTool } from './files/grep-files.ts'
import { listFilesTool } from './files/list-files.ts'
import { readFileTool } from './files/read-file.ts'
import type { Tool } from './port.ts'
import { schemaIssues } from '../rules/text/schema-issues.ts'

export interface FileToolsOptions {
  /** The folder that the tools see, as a path or a `file:` URL. Nothing outside can be reached, links included. */
  readonly folder: string | URL
}

export interface FileTools {
  /** `read_file`: lines of a text file. */
  readonly readFile: Tool
  /** `list_files`: what is in a folder. */
  readonly listFiles: Tool
  /** `grep_files`: lines that match a pattern. */
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
 * Tools to read in one folder, all of them `pure`. Whether a model may read a file is not asked here, except that
 * `grep_files` never opens files that are there to hold credentials.
 *
 * @throws `invalid-argument` for options that are missing, wrong or unknown
 */
export function fileTools(options: FileToolsOptions): FileTools {
  const checked = optionsSchema().safeParse(options)
  if (!checked.success) {
    throw new EntiaError('invalid-argument', `fileTools: ${schemaIssues(checked.error)}. Give { folder: 'docs' }.`)
  }
  const folder = absolute(options.folder)
  return Object.freeze({
    readFile: readFileTool(folder),
    listFiles: listFilesTool(folder),
    grepFiles: grepFilesTool(folder),
  })
}

/** As it is from the working folder of now, whatever that is when the tools are called. */
function absolute(folder: string | URL): string {
  if (typeof folder === 'string') return process.getBuiltinModule('node:path').resolve(folder)
  return process.getBuiltinModule('node:url').fileURLToPath(folder)
}
