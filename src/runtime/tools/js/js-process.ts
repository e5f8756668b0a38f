import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { ConfinedProgram, Program, Sandbox } from '../../sandbox/port.ts'
import { marked } from '../process-marks.ts'
import { type GroupLeader, leads, stopProcess } from '../process-tree.ts'
import { maxOutputChars, ShellOutput } from '../shell-output.ts'
import type { Answer, Request } from './evaluator.ts'
import type { HandleAnswer } from './workspace.ts'

/** Where processes start. */
export interface JsPlace {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** What they run in, if there is one. */
  readonly sandbox?: Sandbox | undefined
}

/** Code for a process, and for how long it may run. */
export interface JsRun {
  /** Declarations of functions, which come before the code. */
  readonly functions: string
  readonly code: string
  readonly returnName: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Finds what `h` asks for. */
  readonly handle: (handle: string) => Promise<HandleAnswer>
}

export type JsEnd =
  /** The process goes on. */
  | ((Answer & { readonly type: 'done' | 'threw' }) & { readonly output: ShellOutput })
  /** It has ended, for the reason of the note. */
  | { readonly type: 'ended'; readonly note: string; readonly output: ShellOutput }
  /** It had ended before the code began. */
  | { readonly type: 'not-begun'; readonly note: string; readonly output: ShellOutput }

/** Most memory of the heap, in MB. */
const maxHeapMb = 256

/** How long a process may take to begin, in milliseconds of real time. */
const maxStartMs = 60_000

/** How long output is waited for after the process has ended. */
const drainMs = 300

/** Longest answer, in characters: a value as JSON, as JSON. */
const maxAnswerChars = 64_000_000

const outOfMemory = `out of memory (${maxHeapMb} MB)`

/** What V8 prints before it ends a process. */
const heapIsFull = 'JavaScript heap out of memory'

const isWindows = process.platform === 'win32'

const describedSchema = z.object({
  json: z.string().optional(),
  preview: z.string(),
  shape: z.string(),
  isLong: z.boolean(),
})

const answerSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begun') }),
  z.object({ type: z.literal('threw'), problem: z.string() }),
  z.object({
    type: z.literal('done'),
    value: describedSchema.optional(),
    named: z.union([describedSchema, z.object({ why: z.string() })]).optional(),
  }),
  z.object({ type: z.literal('bound') }),
  z.object({ type: z.literal('want'), handle: z.string() }),
  z.object({ type: z.literal('out-of-memory') }),
])

/** A call under way. */
interface Call {
  readonly run: JsRun
  readonly marker: Buffer
  readonly settled: PromiseWithResolvers<Answer & { readonly type: 'done' | 'threw' }>
  hasBegun: boolean
  timer: NodeJS.Timeout | undefined
  /** All that was printed, once the marker behind it has come. */
  output: ShellOutput | undefined
  answer: (Answer & { readonly type: 'done' | 'threw' }) | undefined
}

/** A process that runs code of `run_js`, one call at a time. It ends with this process, however that ends. */
export class JsProcess {
  readonly #child: ChildProcess
  readonly #leader: GroupLeader | undefined
  /** The sandbox that the process is. */
  readonly #confined: ConfinedProgram | undefined
  readonly #socket: Socket
  readonly #stdout: Socket
  /** Settles when nothing of it runs any more and all that it printed was read. */
  readonly over: Promise<void>
  #isOver = false
  #hasRun = false
  #isOutOfMemory = false
  #ending: Promise<void> | undefined
  /** Why it was ended from here. */
  #why: string | undefined
  #exitNote = 'it has ended'
  #output = new ShellOutput()
  /** Printed, and perhaps the beginning of a marker. */
  #held: Buffer = Buffer.alloc(0)
  #line: string[] = []
  #lineChars = 0
  #call: Call | undefined
  #bound: PromiseWithResolvers<void> | undefined

  /** @throws `NotConfined` */
  static async start({ cwd, env, sandbox }: JsPlace): Promise<JsProcess> {
    const evaluator = createRequire(import.meta.url).resolve('#js-evaluator')
    const args = [`--max-old-space-size=${maxHeapMb}`, '--disable-warning=ExperimentalWarning', evaluator]
    // Both outputs go through one pipe, so that they stay in order.
    const file = isWindows ? process.execPath : '/bin/sh'
    const parameters = isWindows ? args : ['-c', 'exec "$@" 2>&1', 'sh', process.execPath, ...args]
    const program = { file, args: parameters, cwd, env }
    const confined = await sandbox?.confined(program)
    return new JsProcess(confined ?? { ...program, ...marked(env) }, confined)
  }

  private constructor({ args, cwd, env, file, mark }: Program & { readonly mark: string }, confined?: ConfinedProgram) {
    this.#confined = confined
    this.#child = spawn(file, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
      detached: !isWindows,
      windowsHide: true,
    })
    const { pid } = this.#child
    this.#leader = pid === undefined ? undefined : leads(pid, mark, confined !== undefined)
    this.#stdout = this.#child.stdout as Socket
    this.#socket = this.#child.stdio[3] as Socket
    this.#stdout.on('data', (bytes: Buffer) => this.#printed(bytes))
    this.#stdout.on('error', () => {})
    this.#socket.setEncoding('utf8').on('data', (text: string) => this.#answered(text))
    this.#socket.on('error', () => {})
    this.over = this.#watch()
    this.#keepAlive(false)
  }

  get isOver(): boolean {
    return this.#isOver || this.#ending !== undefined
  }

  /** Has code begun in it? */
  get hasRun(): boolean {
    return this.#hasRun
  }

  /** What the sandbox has stopped, by what code has printed and thrown. */
  async stopped(printed: string, hasFailed: boolean): Promise<string | undefined> {
    return this.#confined?.stopped(printed, hasFailed)
  }

  /** Runs code. @throws the reason of the signal, once the process has ended */
  async run(run: JsRun): Promise<JsEnd> {
    run.signal.throwIfAborted()
    if (this.isOver) {
      await this.over
      return { type: 'not-begun', note: this.#note(), output: this.#output }
    }
    const marker = `\0${randomUUID()}\n`
    const call: Call = {
      run,
      marker: Buffer.from(marker),
      settled: Promise.withResolvers(),
      hasBegun: false,
      timer: setTimeout(() => this.#endFor('it did not begin in time'), maxStartMs),
      output: undefined,
      answer: undefined,
    }
    const stop = (): void => this.#endFor('cancelled')
    run.signal.addEventListener('abort', stop)
    this.#call = call
    this.#keepAlive(true)
    this.#ask({ type: 'run', functions: run.functions, code: run.code, marker, returnName: run.returnName })
    try {
      const answer = await Promise.race([call.settled.promise, this.over])
      if (this.#why !== undefined) await this.over
      run.signal.throwIfAborted()
      if (this.#why === undefined && answer !== undefined && call.output !== undefined)
        return { ...answer, output: call.output }
      if (!call.hasBegun) return { type: 'not-begun', note: this.#note(), output: this.#output }
      return { type: 'ended', note: this.#note(), output: call.output ?? this.#output }
    } finally {
      clearTimeout(call.timer)
      run.signal.removeEventListener('abort', stop)
      this.#call = undefined
      this.#keepAlive(false)
    }
  }

  /** Makes `h(handle)` give the value that the last call gave or named. Nothing happens if the process has ended. */
  async bind(handle: string, as: 'last' | 'named'): Promise<void> {
    if (this.isOver) return
    this.#bound = Promise.withResolvers()
    this.#keepAlive(true)
    this.#ask({ type: 'bind', handle, as })
    await Promise.race([this.#bound.promise, this.over])
    this.#keepAlive(false)
  }

  /** Ends it, and all that it has started. */
  async end(): Promise<void> {
    this.#endFor('ended')
    await this.over
  }

  #endFor(why: string): void {
    this.#why ??= why
    this.#stop()
  }

  #stop(): void {
    this.#ending ??= this.#leader === undefined ? Promise.resolve() : stopProcess(this.#leader)
    this.#keepAlive(true)
  }

  async #watch(): Promise<void> {
    // The socket too: whether code had begun decides whether it may run in another process.
    const closed = Promise.all(
      [this.#stdout, this.#socket].map((pipe) => new Promise((resolve) => pipe.once('close', resolve))),
    )
    await new Promise<void>((resolve) => {
      this.#child.once('error', (error: NodeJS.ErrnoException) => {
        this.#exitNote = `it cannot be started: ${error.code ?? error.message}`
        if (this.#child.pid === undefined) resolve()
      })
      this.#child.once('exit', (code, name) => {
        this.#exitNote = name === null ? `exited with code ${code}` : `ended by ${name}`
        resolve()
      })
    })
    // What it has left in its group ends with it.
    this.#stop()
    await this.#ending
    if (this.#child.pid !== undefined) await Promise.race([closed, delay(drainMs)])
    this.#isOver = true
    void this.#confined?.release()
    this.#stdout.destroy()
    this.#socket.destroy()
    this.#output.push(this.#held, 'stdout')
    this.#held = Buffer.alloc(0)
  }

  #note(): string {
    return this.#why ?? (this.#isOutOfMemory ? outOfMemory : this.#exitNote)
  }

  #ask(request: Request): void {
    this.#socket.write(`${JSON.stringify(request)}\n`)
  }

  #printed(bytes: Buffer): void {
    const call = this.#call
    this.#isOutOfMemory ||= bytes.includes(heapIsFull)
    const all = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes])
    const marker = call?.output === undefined ? call?.marker : undefined
    const at = marker === undefined ? -1 : all.indexOf(marker)
    if (call !== undefined && marker !== undefined && at !== -1) {
      this.#output.push(all.subarray(0, at), 'stdout')
      call.output = this.#output
      this.#output = new ShellOutput()
      this.#held = all.subarray(at + marker.length)
      this.#settle(call)
    } else {
      const from = marker === undefined ? all.length : Math.max(0, all.length - marker.length + 1)
      this.#output.push(all.subarray(0, from), 'stdout')
      this.#held = all.subarray(from)
    }
    if (this.#output.lengthChars > maxOutputChars) this.#endFor(`it printed more than ${maxOutputChars} characters`)
  }

  #answered(text: string): void {
    const [first = '', ...others] = text.split('\n')
    this.#line.push(first)
    this.#lineChars += first.length
    for (const other of others) {
      const line = this.#line.join('')
      this.#line = [other]
      this.#lineChars = other.length
      this.#take(line)
    }
    if (this.#lineChars > maxAnswerChars) this.#endFor('its answer is too long')
  }

  #take(line: string): void {
    const read = answerSchema.safeParse(jsonOf(line))
    if (!read.success) return this.#endFor('code wrote to what only run_js may write to')
    const answer = read.data
    if (answer.type === 'bound') return this.#bound?.resolve()
    if (answer.type === 'out-of-memory') return this.#endFor(outOfMemory)
    const call = this.#call
    if (call === undefined) {
      if (answer.type === 'want') this.#ask({ type: 'handle', problem: 'h gives values only while a call runs.' })
    } else if (answer.type === 'begun') this.#begun(call)
    else if (answer.type === 'want') void this.#give(answer.handle, call.run)
    else {
      call.answer = answer
      this.#hasRun = true
      this.#settle(call)
    }
  }

  #begun(call: Call): void {
    call.hasBegun = true
    this.#hasRun = true
    clearTimeout(call.timer)
    const { timeoutMs } = call.run
    call.timer = setTimeout(() => this.#endFor(`timed out after ${timeoutMs} ms`), timeoutMs)
  }

  async #give(handle: string, { handle: find }: JsRun): Promise<void> {
    const found = await find(handle).catch((error: unknown) => ({ problem: String(error) }))
    if (!this.isOver) this.#ask({ type: 'handle', ...found })
  }

  /** The answer and the output come by two pipes. */
  #settle(call: Call): void {
    if (call.answer === undefined || call.output === undefined) return
    clearTimeout(call.timer)
    call.settled.resolve(call.answer)
  }

  /** A process that only waits does not keep this one from ending. */
  #keepAlive(isBusy: boolean): void {
    for (const one of [this.#child, this.#stdout, this.#socket]) {
      if (isBusy) one.ref()
      else one.unref()
    }
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
