import { z } from 'zod'
import { defineTool } from '../../../tools/define-tool.ts'
import type { Tool } from '../../../tools/port.ts'
import type { ToolSettings } from '../settings.ts'

const packagesSchema = () =>
  z.strictObject({
    pattern: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only names with this in them; * stands for any characters.'),
    limit: z.int().min(1).max(1_000).default(100),
  })

/** The tool `installed_packages`: direct dependencies of the project, and their versions. */
export function installedPackagesTool({ cwd }: ToolSettings): Tool {
  return defineTool({
    name: 'installed_packages',
    description:
      'Lists the packages that the project depends on directly, with version and kind; [missing] are not installed.',
    input: packagesSchema(),
    restart: 'pure',
    category: 'js',
    operation: 'read',
    paths: [],
    run: async (input) => (await import('./direct-dependencies.ts')).directDependencies(input, cwd),
  })
}
