import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const writeSchema = () =>
  z.strictObject({
    path: z.string().min(1),
    content: z.string(),
  })

/** The tool `write_file`: makes a file, or replaces all of one. */
export function writeFileTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'write_file',
    description: 'Writes a whole file, in place of what it had, and makes the folders it needs.',
    input: writeSchema(),
    restart: 'once',
    category: 'file',
    operation: 'write',
    paths: ['path'],
    run: async ({ path, content }) => {
      const { writeWhole } = await import('./write-whole.ts')
      return writeWhole(path, content, settings)
    },
  })
}
