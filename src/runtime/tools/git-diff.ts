import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const diffSchema = () =>
  z.strictObject({
    ref: z.string().min(1).max(1_000).optional().describe('A commit, branch or range to compare with.'),
    staged: z.boolean().default(false).describe('Shows what is staged instead of what is not.'),
    file: z.string().min(1).optional().describe('Only this file or folder.'),
    contextLines: z.int().min(0).max(1_000).default(3),
  })

/** The tool `git_diff`: what has changed. */
export function gitDiffTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'git_diff',
    description: 'Shows changes in the repository: not yet staged, staged, or against a ref.',
    input: diffSchema(),
    restart: 'pure',
    category: 'git',
    operation: 'read',
    paths: ['file'],
    run: async ({ ref, staged, file, contextLines }, context) => {
      const plain = ['--no-ext-diff', '--no-textconv', '--submodule=short', '--ignore-submodules=dirty']
      const args = ['diff', ...plain, `--unified=${contextLines}`, ...(staged ? ['--staged'] : [])]
      return (await import('./git-command.ts')).gitText({ args, ref, path: file }, settings, context)
    },
  })
}
