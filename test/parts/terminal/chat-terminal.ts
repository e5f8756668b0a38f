import { join } from 'node:path'
import { type IPty, spawn } from '@lydell/node-pty'
import { onTestFinished } from 'vitest'
import { ScreenReader } from '../../cli/chat/screen-reader.ts'

const root = join(import.meta.dirname, '../../..')
const cache = process.env['NODE_COMPILE_CACHE'] ?? ''

/** It would stand below what tests look for at the end of the screen. */
const statusLine = /^claude-\S+(?: · |$)/

export interface ChatTerminalOptions {
  /** The working folder. */
  readonly in: string
  readonly env?: Readonly<Record<string, string>>
  /** @default 80 */
  readonly columns?: number
  /** @default 24 */
  readonly rows?: number
}

/** How a program ended. */
export interface TerminalEnd {
  readonly exitCode: number
  readonly signal?: number | undefined
}

/** The program on a real terminal of its own, and what a person sees there. */
export class ChatTerminal {
  readonly screen: ScreenReader
  readonly ended: Promise<TerminalEnd>
  /** What another one in the same place is made with. */
  readonly at: ChatTerminalOptions
  /** All that it has written. */
  sent = ''
  readonly #pty: IPty

  constructor(args: readonly string[], at: ChatTerminalOptions) {
    const { in: cwd, env = {}, columns = 80, rows = 24 } = (this.at = at)
    this.screen = new ScreenReader(columns, rows)
    this.screen.leavesOut = statusLine
    const words = ['--conditions=entia-source', join(root, 'src/cli/main.ts'), ...args]
    this.#pty = spawn(process.execPath, words, {
      cwd,
      cols: columns,
      rows,
      name: env['TERM'] ?? 'xterm-256color',
      env: {
        PATH: process.env['PATH'] ?? '',
        TERM: 'xterm-256color',
        LANG: 'C.UTF-8',
        NODE_COMPILE_CACHE: cache,
        HOME: cwd,
        ENTIA_CONFIG_DIR: join(cwd, '.entia-home/config'),
        ENTIA_DATA_DIR: join(cwd, '.entia-home/data'),
        ENTIA_CACHE_DIR: join(cwd, '.entia-home/cache'),
        ...env,
      },
    })
    this.#pty.onData((data) => {
      this.sent += data
      this.screen.write(data)
    })
    this.screen.onAnswer = (data) => this.#pty.write(data)
    let hasEnded = false
    this.ended = new Promise((resolve) =>
      this.#pty.onExit((end) => {
        hasEnded = true
        resolve(end)
      }),
    )
    onTestFinished(async () => {
      if (!hasEnded) this.kill()
      await this.ended
    })
  }

  get pid(): number {
    return this.#pty.pid
  }

  /** Types keys; Enter is `\r`. */
  type(keys: string): void {
    this.#pty.write(keys)
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  /** Closes the terminal, as a window is closed or a connection lost. */
  hangUp(): void {
    ;(this.#pty as IPty & { destroy(): void }).destroy()
  }

  /** Ends it on the spot, as a power failure would. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): void {
    process.kill(this.pid, signal)
  }

  /** @see ScreenReader.until */
  async until(wanted: string | RegExp): Promise<void> {
    await this.screen.until(wanted, 30_000)
  }
}
