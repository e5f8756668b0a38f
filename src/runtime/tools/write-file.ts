import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const writeSchema = () =>
  z.strictObject({
    path: z.string().min(1).describe('Path of the file, from the working folder.'),
    content: z.string().describe('All of the new content.'),
  })

/** The tool `write_file`: makes a file, or replaces all of one. */
export function writeFileTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'write_file',
    description: 'Writes a whole file and makes the folders it needs. What the file had before is replaced.',
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
