import { z } from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool } from '../port.ts'
import { maxLineChars } from './limits.ts'

const maxLines = 2_000

const inputSchema = () =>
  z.strictObject({
    path: z.string().min(1).describe('Path of the file, from the folder of the tools.'),
    from: z.int().min(1).default(1).describe('First line, counted from 1.'),
    lines: z.int().min(1).max(maxLines).default(maxLines).describe('How many lines.'),
    lineNumbers: z.boolean().default(true).describe('Puts the number and a tab before each line.'),
  })

/** The tool `read_file`: lines of a text file in a folder. */
export function readFileTool(folder: string): Tool {
  return defineTool({
    name: 'read_file',
    description:
      `Reads a text file: up to ${maxLines} lines at a time, each cut at ${maxLineChars} characters. ` +
      'A note at the end says where to read on.',
    input: inputSchema(),
    restart: 'pure',
    run: async (input, context) => (await import('./read-lines.ts')).readLines(folder, input, context),
  })
}
