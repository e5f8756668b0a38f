import { z } from 'zod'
import { defineTool } from '../../../tools/define-tool.ts'
import type { Tool } from '../../../tools/port.ts'
import type { ToolSettings } from '../settings.ts'

const helpSchema = () =>
  z.strictObject({
    package: z.string().min(1).max(300).describe('As in an import: zod, @scope/name, name/subpath, node:fs.'),
    symbol: z.string().min(1).max(300).optional().describe('One export, or a member of it: z.object.'),
  })

/** The tool `js_help`: what a package exports, by its type declarations. */
export function jsHelpTool({ cwd }: ToolSettings): Tool {
  return defineTool({
    name: 'js_help',
    description:
      'Shows what an installed package or a module of Node.js exports, with signatures and what its declarations say, and ' +
      'the beginning of its README; with symbol all about one export. Runs none of its code.',
    input: helpSchema(),
    restart: 'pure',
    category: 'js',
    operation: 'read',
    paths: [],
    run: async (input, context) => (await import('./package-help.ts')).packageHelp(input, cwd, context),
  })
}
