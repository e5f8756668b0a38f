import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { cleanText } from '../../tools/files/clean-text.ts'
import type { ConfinedProgram, Program } from '../sandbox/port.ts'
import { marked } from '../tools/process-marks.ts'
import { endsWithThisProcess, type GroupLeader, leads, stopProcess } from '../tools/process-tree.ts'

/** A server that is a program on this machine. */
export interface ServerProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /** Longest message, in bytes. */
  readonly maxMessageBytes: number
  /** Puts it into a sandbox. Absent, and where it gives nothing: the server has the rights of this process. */
  readonly confine?: ((program: Program) => Promise<ConfinedProgram | undefined>) | undefined
}

/** What of its stderr is kept, for the error when it ends. */
const maxStderrChars = 2_000
/** How long it may take to end once its input is closed, in milliseconds of real time. */
const endOfInputMs = 500

const isWindows = process.platform === 'win32'

/**
 * Speaks with a server over its stdin and stdout: a message a line. It has a process group of its own, which ends with it, with
 * `close` and with this process.
 */
export class ServerPipe implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #program: ServerProgram
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  /** The sandbox that it runs in. */
  confined: ConfinedProgram | undefined
  #leader: GroupLeader | undefined
  #release: (() => void) | undefined
  #closing: Promise<void> | undefined
  #stderr = ''
  /** Pieces of a line that has not ended. */
  #pieces: Buffer[] = []
  #lengthBytes = 0
  /** Why it ended by itself, once it has. */
  ending: string | undefined
  #isEnded = false
  readonly #end = Promise.withResolvers<void>()

  constructor(program: ServerProgram) {
    this.#program = program
  }

  /** The client's SDK takes a transport with these two for one to a process: it may be older than its protocol's first message. */
  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  get stderr(): null {
    return null
  }

  /** The last of what it wrote to stderr, on one line. */
  get lastWords(): string {
    return cleanText(this.#stderr)
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ⏎ ')
  }

  /** How it ended: what it wrote last, and what may have been in its way. Sentences behind a blank, if any. */
  get circumstances(): string {
    const words = this.lastWords === '' ? '' : ` It wrote: ${this.lastWords}`
    if (this.confined === undefined) return words
    const more = 'allowedDomains and writePaths of the server, in your own configuration, let more through.'
    return `${words} It ran in the sandbox. ${this.confined.rules} ${more}`
  }

  async start(): Promise<void> {
    const { command, confine } = this.#program
    const program = { ...this.#program, file: command }
    const confined = await confine?.({ file: command, args: program.args, cwd: program.cwd, env: program.env })
    if (this.#closing !== undefined) {
      await confined?.release()
      throw new Error(`${command} was not started: its connection is closed.`)
    }
    this.confined = confined
    const { args, cwd, env, file, mark } = confined ?? { ...program, ...marked(program.env) }
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: !isWindows,
      windowsHide: true,
    })
    if (child.pid === undefined) {
      const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException]
      await confined?.release()
      throw new Error(`${command} cannot be started: ${error.code ?? error.message}.`)
    }
    this.#child = child
    this.#leader = leads(child.pid, mark, confined !== undefined)
    this.#release = endsWithThisProcess(this.#leader)
    child.on('error', (error) => this.onerror?.(error))
    child.stdin.on('error', () => {})
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes))
    child.stderr.on('data', (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString('utf8')).slice(-maxStderrChars)
    })
    child.once('close', (code, signal) => this.#ended(signal ?? `exit ${code}`))
    // One that ends while a process of its own holds its output counts as ended.
    child.once('exit', (code, signal) => {
      setTimeout(() => this.#ended(signal ?? `exit ${code}`), endOfInputMs).unref()
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (stdin === undefined || this.#isEnded) throw new Error('The server has ended.')
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
    try {
      await promise
    } catch (error) {
      // Its input breaks before it is known to have ended: how it ended says more than that.
      await this.#endSeen()
      throw error
    }
  }

  /** Until it has ended, for at most twice `endOfInputMs`: a program may end while others hold its output. */
  async #endSeen(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, 2 * endOfInputMs)
    await Promise.race([this.#end.promise, late])
    clearTimeout(timer)
  }

  /** Closes its input, and ends it with all processes that it has started. */
  async close(): Promise<void> {
    await (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const child = this.#child
    if (child === undefined || this.#leader === undefined) return
    child.stdin.end()
    if (child.exitCode === null && child.signalCode === null) {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, endOfInputMs)
      await Promise.race([once(child, 'exit'), late])
      clearTimeout(timer)
    }
    await stopProcess(this.#leader)
    this.#release?.()
    await this.confined?.release()
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    this.#ended(undefined)
  }

  #ended(how: string | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    if (this.#closing === undefined) this.ending = how
    this.#pieces = []
    this.#end.resolve()
    this.onclose?.()
    // Processes that it left in its group end too.
    void this.close()
  }

  #read(bytes: Buffer): void {
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      const line = this.#pieces.length === 0 ? bytes.subarray(from, end) : this.#joined(bytes.subarray(from, end))
      from = end + 1
      if (line.length > this.#program.maxMessageBytes) return this.#tooLong()
      this.#take(line.toString('utf8'))
    }
    if (from === bytes.length) return
    this.#pieces.push(bytes.subarray(from))
    this.#lengthBytes += bytes.length - from
    if (this.#lengthBytes > this.#program.maxMessageBytes) this.#tooLong()
  }

  #joined(last: Buffer): Buffer {
    const line = Buffer.concat([...this.#pieces, last])
    this.#pieces = []
    this.#lengthBytes = 0
    return line
  }

  #tooLong(): void {
    this.#pieces = []
    this.#child?.stdout.removeAllListeners('data')
    this.#child?.stdout.resume()
    this.#ended(`it sent a message of more than ${this.#program.maxMessageBytes} bytes`)
  }

  /** Some servers write their log to stdout: what is no message is ignored. `trim` drops a byte order mark, too. */
  #take(line: string): void {
    const text = line.trim()
    if (!text.startsWith('{')) return
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      return
    }
    if ((message as { readonly jsonrpc?: unknown }).jsonrpc === '2.0') this.onmessage?.(message as JSONRPCMessage)
  }
}
