import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const statusSchema = () =>
  z.strictObject({ path: z.string().min(1).optional().describe('Only what concerns this file or folder.') })

/** The tool `git_status`: the branch, and which files have changed. */
export function gitStatusTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'git_status',
    description: 'Shows the branch and the changed files of the repository, as `git status --short --branch` does.',
    input: statusSchema(),
    restart: 'pure',
    category: 'git',
    operation: 'read',
    paths: ['path'],
    run: async ({ path }, context) => {
      const args = ['status', '--short', '--branch', '--ignore-submodules=dirty']
      return (await import('./git-command.ts')).gitText({ args, path }, settings, context)
    },
  })
}
