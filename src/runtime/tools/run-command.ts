import { stat } from 'node:fs/promises'
import { errorOutput } from '../../tools/tool-output.ts'
import type { ToolContext, ToolOutput } from '../../tools/port.ts'
import { NotStarted, type ProcessEnd, runProcess } from './process-tree.ts'
import type { ToolSettings } from './settings.ts'
import { maxOutputChars, ShellOutput } from './shell-output.ts'

export interface CommandRequest {
  readonly command: string
  readonly timeoutMs: number
}

/** Does the work of `bash` and `cmd`. */
export async function runCommand(
  shell: 'bash' | 'cmd',
  { command, timeoutMs }: CommandRequest,
  settings: ToolSettings,
  context: ToolContext,
): Promise<string | ToolOutput> {
  if (command.includes('\0')) return errorOutput('The command holds a NUL character.')
  const { cwd } = settings
  const folder = await stat(cwd).catch(() => undefined)
  if (folder?.isDirectory() !== true) return errorOutput(`The working folder ${cwd} does not exist.`)
  const output = new ShellOutput()
  let end: ProcessEnd
  try {
    end = await runProcess({
      ...programs[shell](command),
      cwd,
      env: settings.environment(),
      timeoutMs,
      signal: context.signal,
      output: (bytes, stream) => {
        output.push(bytes, stream)
        return output.lengthChars <= maxOutputChars
      },
    })
  } catch (error) {
    if (error instanceof NotStarted) return errorOutput(error.message)
    throw error
  }
  const text = await output.text(context)
  const note = endNote(end, timeoutMs, output.lengthChars)
  if (note === undefined) return text
  return { content: [{ type: 'text', text: text === '' ? note : `${text}\n${note}` }], isError: true }
}

const programs = {
  /** Both outputs go through one pipe, so that they stay in order. */
  bash: (command: string) => ({ file: 'bash', args: ['-c', 'exec "$BASH" -c "$1" bash 2>&1', 'bash', command] }),
  cmd: (command: string) => ({ file: 'cmd.exe', args: ['/d', '/s', '/c', `"${command}"`], verbatim: true }),
}

function endNote({ exitCode, signalName, timedOut }: ProcessEnd, timeoutMs: number, chars: number): string | undefined {
  if (timedOut) return `[timed out after ${timeoutMs} ms]`
  if (chars > maxOutputChars) return `[stopped: it printed more than ${maxOutputChars} characters]`
  if (signalName !== undefined) return `[ended by ${signalName}]`
  return exitCode === 0 ? undefined : `[exit ${exitCode}]`
}
