import { z } from 'zod'
import { defineTool } from '../../tools/define-tool.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolSettings } from './settings.ts'

const maxCommandChars = 100_000

const commandSchema = () =>
  z.strictObject({
    command: z.string().min(1).max(maxCommandChars),
    timeoutMs: z.int().min(1).max(600_000).default(120_000).describe('Longest run, in milliseconds.'),
  })

/** The tool `bash`, or `cmd` on a Windows without bash: runs a shell command in the working folder. */
export function shellTool(settings: ToolSettings): Tool {
  const shell = process.platform === 'win32' && !hasBash(settings.environment()) ? 'cmd' : 'bash'
  return defineTool({
    name: shell,
    description:
      `Runs a command with ${shell} in the working folder, without input; each call is a new shell. ` +
      'Gives what it prints, and [exit N] if that is not 0. Processes it leaves in the background are stopped at its end.',
    input: commandSchema(),
    restart: 'once',
    category: 'code',
    operation: 'exec',
    paths: [],
    run: async (input, context) => (await import('./run-command.ts')).runCommand(shell, input, settings, context),
  })
}

/** Whether a Windows has a bash of its own; that of `System32` runs in another system. */
function hasBash(env: NodeJS.ProcessEnv): boolean {
  const { existsSync } = process.getBuiltinModule('node:fs')
  const folders = (env['Path'] ?? env['PATH'] ?? '').split(';')
  return folders.some((folder) => !/system32/i.test(folder) && existsSync(`${folder}\\bash.exe`))
}
