import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool } from '../port.ts'
import { maxGlobChars } from './limits.ts'

const maxLimit = 5_000

const inputSchema = () =>
  z.strictObject({
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
export function listFilesTool(folder: string): Tool {
  return defineTool({
    name: 'list_files',
    description: 'Lists files and folders, sorted; folders end in /. What .gitignore files name is left out.',
    input: inputSchema(),
    restart: 'pure',
    run: async (input, context) => (await import('./list-entries.ts')).listEntries(folder, input, context),
  })
}
