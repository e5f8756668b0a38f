import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import { refusable } from '../../tools/files/refusal.ts'
import type { Tool } from '../../tools/port.ts'
import type { GitView } from './git-view.ts'
import type { ToolSettings } from './settings.ts'

const statusSchema = () => z.strictObject({ path: z.string().min(1).optional().describe('Only this file or folder.') })

/** The tool `git_status`: the branch, and which files have changed. */
export function gitStatusTool(settings: ToolSettings): Tool {
  return defineTool({
    name: 'git_status',
    description: 'Shows the branch and changed files.',
    input: statusSchema(),
    restart: 'pure',
    category: 'git',
    operation: 'read',
    paths: ['path'],
    run: ({ path }, context) =>
      refusable(path ?? settings.cwd, async () => {
        const { GitView } = await import('./git-view.ts')
        const view = await GitView.open(path, settings, context)
        const { isCut, output } = await view.run(['status', ...plain, '--', ...view.limits])
        await view.countOutside([], ['--staged'])
        return view.text(await statusText(view, output), isCut)
      }),
  })
}

const plain = [
  '--porcelain=v1',
  '-z',
  '--branch',
  '--untracked-files=normal',
  '--find-renames',
  '--ignore-submodules=dirty',
]

/** `XY name`; behind that of a file that is renamed or copied, its old name. */
async function statusText(view: GitView, output: Buffer): Promise<string> {
  const { cleanName } = await import('../../tools/files/clean-text.ts')
  const fields = output.toString().split('\0')
  const lines: string[] = []
  for (let field = fields.shift(); field !== undefined && field !== ''; field = fields.shift()) {
    if (field.startsWith('## ')) {
      lines.push(cleanName(field))
      continue
    }
    const [state, name] = [field.slice(0, 3), field.slice(3)]
    const names = /[CR]/.test(state) ? [fields.shift() ?? '', name] : [name]
    const kind = view.kindOfChange(names)
    if (kind === undefined) lines.push(state + names.map((each) => view.shown(each)).join(' -> '))
    else view.leftOut.add(kind)
  }
  return lines.join('\n')
}
