import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import type { AskEvent } from '../../src/cli/ask-event.ts'

const root = join(import.meta.dirname, '../..')
const program = process.env['MODE'] === 'dist' ? ['dist/cli.js'] : ['--conditions=entia-source', 'src/cli/main.ts']

const cache = process.env['NODE_COMPILE_CACHE']
const compiled: Readonly<Record<string, string>> = cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }

export interface ProgramOptions {
  /** The working folder. */
  readonly in: string
  /** All of the environment, besides where there is no configuration, and what was compiled before. @default none */
  readonly env?: Readonly<Record<string, string>>
  /** What is piped in; `null`: nothing, and the pipe stays open. @default '' */
  readonly input?: string | null
}

/** How a program ended, and all that it wrote. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The command-line program in a process of its own. */
export class Program {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  readonly #lines: AsyncIterator<string>

  constructor(args: readonly string[], { in: cwd, env = {}, input = '' }: ProgramOptions) {
    const [script = '', ...flags] = program.toReversed()
    const child = spawn(process.execPath, [...flags, join(root, script), ...args], {
      cwd,
      env: { ...compiled, ENTIA_CONFIG_DIR: join(cwd, 'no-configuration'), ...env },
    })
    this.child = child
    // A program that has ended takes no input.
    child.stdin.on('error', () => undefined)
    if (input !== null) child.stdin.end(input)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }))
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await this.ended
    })
  }

  /** Reads on, with `--json`, up to an event that is looked for. */
  async until(isIt: (event: AskEvent) => boolean): Promise<AskEvent> {
    for (let line = await this.#lines.next(); line.done !== true; line = await this.#lines.next()) {
      const event = JSON.parse(line.value) as AskEvent
      if (isIt(event)) return event
    }
    throw new Error(`The program ended before that: ${(await this.ended).stderr}`)
  }

  /** Ends it on the spot, as a power failure would. */
  async kill(): Promise<Ended> {
    this.child.kill('SIGKILL')
    return this.ended
  }
}

export function run(args: readonly string[], options: ProgramOptions): Promise<Ended> {
  return new Program(args, options).ended
}

/** What was written with `--json`; a line that was cut by a kill is left out. */
export function eventsOf({ stdout }: Ended): AskEvent[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AskEvent)
}
