import type { ToolContext } from '../../tools/port.ts'
import type { ConfinedProgram } from '../sandbox/port.ts'
import { NotStarted, type ProcessEnd, type ProcessRun, runProcess } from './process-tree.ts'
import { maxOutputChars, ShellOutput } from './shell-output.ts'

/** No limit: the longest delay of a timer. */
const noTimeoutMs = 2 ** 31 - 1

export type ShellProgram = Pick<ProcessRun, 'file' | 'args' | 'cwd' | 'env' | 'verbatim' | 'mark'>

/** A shell that runs until it ends or is stopped, and what it has printed since that was last read. */
export class BackgroundShell {
  readonly command: string
  /** The agent that has started it. */
  readonly owner: string
  readonly #confined: ConfinedProgram | undefined
  readonly #startedMs = performance.now()
  readonly #stopping = new AbortController()
  readonly #ended: Promise<void>
  #output = new ShellOutput()
  #printedChars = 0
  #end: ProcessEnd | NotStarted | 'stopped' | undefined
  /** Resolves at the next output, or at its end. */
  #news = Promise.withResolvers<void>()

  /** @param confined the sandbox that the program is */
  constructor(command: string, owner: string, program: ShellProgram, confined?: ConfinedProgram) {
    this.command = command
    this.owner = owner
    this.#confined = confined
    this.#ended = this.#run(program)
  }

  get isRunning(): boolean {
    return this.#end === undefined
  }

  get ageMs(): number {
    return performance.now() - this.#startedMs
  }

  get state(): string {
    const end = this.#end
    if (end === undefined) return 'running'
    if (end === 'stopped') return 'stopped'
    if (end instanceof NotStarted) return end.message
    if (this.#printedChars > maxOutputChars) return `stopped: it printed more than ${maxOutputChars} characters`
    if (end.signalName !== undefined) return `ended by ${end.signalName}`
    return end.exitCode === 0 ? 'ended' : `exit ${end.exitCode}`
  }

  /** Resolves when it has printed something that was not read, or has ended, or after that time. */
  async hasNews(withinMs: number, signal: AbortSignal): Promise<void> {
    if (!this.isRunning || this.#output.lengthChars > 0) return
    await this.#settled(this.#news.promise, withinMs, signal)
  }

  /** Resolves when it has ended, or after that time. */
  async isOver(withinMs: number, signal: AbortSignal): Promise<void> {
    await this.#settled(this.#ended, withinMs, signal)
  }

  /** What it has printed since the last reading. */
  async read(context: Pick<ToolContext, 'handles'>): Promise<string> {
    const output = this.#output
    this.#output = output.next()
    if (!this.isRunning) output.end()
    return output.text(context)
  }

  /** What the sandbox has stopped, by what was printed. */
  async stopped(printed: string): Promise<string | undefined> {
    const end = this.#end
    const hasFailed = end instanceof NotStarted || (typeof end === 'object' && end.exitCode !== 0)
    return this.#confined?.stopped(printed, hasFailed)
  }

  /** Resolves when all its processes have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #run(program: ShellProgram): Promise<void> {
    try {
      this.#end = await runProcess({
        ...program,
        timeoutMs: noTimeoutMs,
        signal: this.#stopping.signal,
        output: (bytes, stream) => this.#take(bytes, stream),
      })
    } catch (error) {
      this.#end = error instanceof NotStarted ? error : 'stopped'
    }
    void this.#confined?.release()
    this.#news.resolve()
  }

  #take(bytes: Buffer, stream: 'stdout' | 'stderr'): boolean {
    const before = this.#output.lengthChars
    this.#output.push(bytes, stream)
    this.#printedChars += this.#output.lengthChars - before
    this.#news.resolve()
    this.#news = Promise.withResolvers()
    return this.#printedChars <= maxOutputChars
  }

  async #settled(what: Promise<void>, withinMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    const stop = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', stop)
    const timer = setTimeout(resolve, withinMs)
    try {
      await Promise.race([what, promise])
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }
}
