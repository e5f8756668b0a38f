import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { errorOutput } from '../../tools/tool-output.ts'
import type { ToolContext, ToolOutput } from '../../tools/port.ts'
import { type ConfinedProgram, NotConfined } from '../sandbox/port.ts'
import { BackgroundShell, type ShellProgram } from './background-shell.ts'
import { type BackgroundShells, ShellRefused } from './background-shells.ts'
import { NotStarted, type ProcessEnd, runProcess } from './process-tree.ts'
import type { ToolSettings } from './settings.ts'
import { maxOutputChars, ShellOutput } from './shell-output.ts'

export interface CommandRequest {
  readonly command: string
  readonly timeoutMs: number
  /** @default false */
  readonly outsideSandbox?: boolean | undefined
}

/** Does the work of `bash` and `cmd`. */
export async function runCommand(
  shell: 'bash' | 'cmd',
  request: CommandRequest,
  settings: ToolSettings,
  context: ToolContext,
): Promise<string | ToolOutput> {
  const { timeoutMs } = request
  const place = await placeOf(shell, request, settings)
  if (typeof place === 'string') return errorOutput(place)
  const { confined, program } = place
  const output = new ShellOutput()
  let end: ProcessEnd
  try {
    end = await runProcess({
      ...program,
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
  } finally {
    void confined?.release()
  }
  output.end()
  const text = await output.text(context)
  const note = endNote(end, timeoutMs, output.lengthChars)
  const stopped = await confined?.stopped(text, note !== undefined)
  const lines = [text, note, stopped].filter((line) => line !== undefined && line !== '').join('\n')
  return note === undefined ? lines : { content: [{ type: 'text', text: lines }], isError: true }
}

/** How long a shell in the background is watched before its call returns, in milliseconds of real time. */
const firstLookMs = 500

/** Does the work of `bash` and `cmd` in the background. */
export async function startShell(
  shell: 'bash' | 'cmd',
  request: CommandRequest,
  settings: ToolSettings,
  shells: BackgroundShells,
  context: ToolContext,
): Promise<string | ToolOutput> {
  const place = await placeOf(shell, request, settings)
  if (typeof place === 'string') return errorOutput(place)
  // Ids of an earlier process must not lead to other shells.
  const id = `sh_${createHash('sha256').update(`${context.world}/${context.key}`).digest('hex').slice(0, 8)}`
  return orRefused(async () => {
    const started = await startedIn(shells, id, request.command, ownerOf(context), place)
    try {
      await started.isOver(firstLookMs, context.signal)
    } catch (error) {
      await started.stop()
      throw error
    }
    return shellText(id, started, context)
  })
}

/** A shell that was refused leaves no sandbox behind. */
async function startedIn(
  shells: BackgroundShells,
  id: string,
  command: string,
  owner: string,
  { confined, program }: ShellPlace,
): Promise<BackgroundShell> {
  try {
    return shells.add(id, () => new BackgroundShell(command, owner, program, confined))
  } catch (error) {
    await confined?.release()
    throw error
  }
}

/** Does the work of `shell_output`. */
export async function readShell(
  shells: BackgroundShells,
  { id, waitMs }: { readonly id?: string | undefined; readonly waitMs: number },
  context: ToolContext,
): Promise<string | ToolOutput> {
  const owner = ownerOf(context)
  if (id === undefined) {
    const lines = shells.list(owner).map(({ command, id: each, state }) => `${each} [${state}] ${command}`)
    return lines.length === 0 ? '[no background shells]' : lines.join('\n')
  }
  return orRefused(async () => {
    const shell = shells.find(id, owner)
    await shell.hasNews(waitMs, context.signal)
    return shellText(id, shell, context)
  })
}

/** Does the work of `shell_stop`. */
export async function stopShell(
  shells: BackgroundShells,
  { id }: { readonly id: string },
  context: ToolContext,
): Promise<string | ToolOutput> {
  return orRefused(async () => {
    const shell = shells.find(id, ownerOf(context))
    await shell.stop()
    return shellText(id, shell, context)
  })
}

async function shellText(id: string, shell: BackgroundShell, context: ToolContext): Promise<string> {
  // A shell that ends now has printed all of it before.
  const state = shell.isRunning ? `running in the background as ${id}` : `${id}: ${shell.state}`
  const text = (await shell.read(context)).replace(/\n$/, '')
  const stopped = await shell.stopped(text)
  return [text, stopped, `[${state}]`].filter((line) => line !== undefined && line !== '').join('\n')
}

async function orRefused(work: () => Promise<string>): Promise<string | ToolOutput> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ShellRefused) return errorOutput(error.message)
    throw error
  }
}

/** Each agent of a chat session has shells of its own. */
function ownerOf({ agent, world }: ToolContext): string {
  return `${world}\0${agent}`
}

/** What runs a command. */
interface ShellPlace {
  readonly program: ShellProgram
  /** The sandbox that the program is. */
  readonly confined?: ConfinedProgram | undefined
}

/** What runs a command, or why nothing does. */
async function placeOf(
  shell: 'bash' | 'cmd',
  { command, outsideSandbox = false }: CommandRequest,
  settings: ToolSettings,
): Promise<ShellPlace | string> {
  if (command.includes('\0')) return 'The command holds a NUL character.'
  const { cwd } = settings
  const folder = await stat(cwd).catch(() => undefined)
  if (folder?.isDirectory() !== true) return `The working folder ${cwd} does not exist.`
  const program = { ...programs[shell](command), cwd, env: settings.environment() }
  if (outsideSandbox) return { program }
  try {
    const confined = await settings.sandbox?.confined(program)
    return confined === undefined ? { program } : { program: confined, confined }
  } catch (error) {
    if (error instanceof NotConfined) return error.message
    throw error
  }
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
