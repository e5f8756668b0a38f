import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const logSchema = () =>
  z.strictObject({
    n: z.int().min(1).max(200).default(10).describe('Most commits.'),
    ref: z.string().min(1).max(1_000).optional().describe('A commit, branch or range.'),
    file: z.string().min(1).optional().describe('Only commits that change this file or folder.'),
  })

/** The tool `git_log`: commits, newest first. */
export function gitLogTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'git_log',
    description: 'Lists commits, newest first: hash, date, author, subject.',
    input: logSchema(),
    restart: 'pure',
    category: 'git',
    operation: 'read',
    paths: ['file'],
    run: async ({ n, ref, file }, context) => {
      const args = ['log', `--max-count=${n}`, '--no-show-signature', '--format=%h %as %an: %s']
      return (await import('./git-command.ts')).gitText({ args, ref, path: file }, settings, context)
    },
  })
}
