import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool } from '../port.ts'
import { maxGlobChars } from './limits.ts'

const maxLimit = 1_000
const maxContext = 20

const inputSchema = () =>
  z.strictObject({
    pattern: z
      .string()
      .min(1)
      .max(10_000)
      .describe('Regular expression of JavaScript, matched against each line on its own.'),
    path: z
      .string()
      .min(1)
      .default('.')
      .describe('Path of the file or folder to search, from the folder of the tools.'),
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
export function grepFilesTool(folder: string): Tool {
  return defineTool({
    name: 'grep_files',
    description:
      'Searches text files and gives lines as `path:line: text`, lines of context as `path-line- text`. ' +
      'Hidden files are searched; what .gitignore files name, .git, binary files and files with credentials are not.',
    input: inputSchema(),
    restart: 'pure',
    timeoutMs: 20_000,
    run: async (input, context) => (await import('./grep-lines.ts')).grepLines(folder, input, context),
  })
}
