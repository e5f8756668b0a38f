import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { BackgroundShells } from './background-shells.ts'
import type { CommandRequest } from './run-command.ts'
import type { ToolSettings } from './settings.ts'

const maxCommandChars = 100_000

const commandSchema = () =>
  z.strictObject({
    command: z.string().min(1).max(maxCommandChars),
    timeoutMs: z.int().min(1).max(600_000).default(120_000).describe('Not in the background.'),
    background: z.boolean().default(false).describe('Gives an id at once and runs on, for servers and watchers.'),
    outsideSandbox: z
      .boolean()
      .optional()
      .describe('Asks the user to run it outside, for what the sandbox does not allow.'),
  })

/** The tool `bash`, or `cmd` on a Windows without bash: runs a shell command in the working folder. */
export function shellTool(settings: ToolSettings, shells: BackgroundShells): Tool {
  const shell = process.platform === 'win32' && !hasBash(settings.environment()) ? 'cmd' : 'bash'
  const rules = settings.sandbox?.rules
  return defineTool({
    name: shell,
    description:
      `Runs a command in a new ${shell} in the working folder, without input. Gives its output, and [exit N] if not 0. ` +
      'What it leaves running is stopped, unless background is true.' +
      (rules === undefined ? '' : ` It runs in a sandbox. ${rules}`),
    input: rules === undefined ? commandSchema().omit({ outsideSandbox: true }) : commandSchema(),
    restart: 'once',
    category: 'code',
    operation: 'exec',
    paths: [],
    run: async (input, context) => {
      const { runCommand, startShell } = await import('./run-command.ts')
      const { background, ...request }: CommandRequest & { readonly background: boolean } = input
      if (background) return startShell(shell, request, settings, shells, context)
      return runCommand(shell, request, settings, context)
    },
  })
}

/** Whether a Windows has a bash of its own; that of `System32` runs in another system. */
function hasBash(env: NodeJS.ProcessEnv): boolean {
  const { existsSync } = process.getBuiltinModule('node:fs')
  const folders = (env['Path'] ?? env['PATH'] ?? '').split(';')
  return folders.some((folder) => !/system32/i.test(folder) && existsSync(`${folder}\\bash.exe`))
}
