import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const replaceSchema = () =>
  z.strictObject({
    path: z.string().min(1),
    old: z.string().min(1).describe('Without line numbers. Line ends of any kind match.'),
    new: z.string(),
    all: z.boolean().default(false),
  })

/** The tool `replace_in_file`: replaces exact text, and gives a diff. */
export function replaceInFileTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'replace_in_file',
    description: 'Replaces text in a file and gives a diff. old must match exactly, and only once unless all is true.',
    input: replaceSchema(),
    restart: 'once',
    category: 'file',
    operation: 'write',
    paths: ['path'],
    run: async (input) => (await import('./replace-text.ts')).replaceText(input, settings),
  })
}
