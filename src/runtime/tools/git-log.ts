import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import { refusable, Refusal } from '../../tools/files/refusal.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const logSchema = () =>
  z.strictObject({
    n: z.int().min(1).max(200).default(10),
    ref: z.string().min(1).max(1_000).optional().describe('Commit, branch or range.'),
    file: z.string().min(1).optional().describe('Only of this file or folder.'),
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
    run: ({ n, ref, file }, context) =>
      refusable(file ?? settings.cwd, async () => {
        const { GitView } = await import('./git-view.ts')
        const { cleanText } = await import('../../tools/files/clean-text.ts')
        const view = await GitView.open(file, settings, context)
        if ((await view.checkRef(ref)) === 'file') throw Refusal.of(ref ?? '', 'names no commit.')
        const plain = ['--no-patch', '--no-color', '--no-show-signature', '--encoding=UTF-8', '--format=%h %as %an: %s']
        const what = ref === undefined ? [] : [ref]
        const args = ['log', `--max-count=${n}`, ...plain, ...what, '--', ...view.limits]
        const { isCut, output } = await view.run(args)
        return view.text(cleanText(output.toString()), isCut)
      }),
  })
}
