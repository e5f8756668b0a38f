import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { descendantsOf, marked, markedProcesses, processLine, runningProcesses } from './process-marks.ts'

/** What to run, and for how long. */
export interface ProcessRun {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Takes output as it is printed. Gives whether the process may go on. */
  readonly output: (bytes: Buffer, stream: 'stdout' | 'stderr') => boolean
  /** Arguments of `cmd.exe` are passed on as they are. @default false */
  readonly verbatim?: boolean
  /**
   * The mark of what runs inside, where the program is a sandbox: that gets time to end by itself, and all of it ends with the
   * sandbox. Absent: the program and what it starts are marked here.
   */
  readonly mark?: string | undefined
}

/** How a process ended. */
export interface ProcessEnd {
  /** Absent when a signal ended it. */
  readonly exitCode: number | undefined
  readonly signalName: string | undefined
  readonly timedOut: boolean
}

/** Thrown when a program cannot be started. */
export class NotStarted extends Error {
  override readonly name = 'NotStarted'
  readonly code: string | undefined

  constructor(file: string, code: string | undefined) {
    super(`${file} cannot be started: ${code ?? 'unknown error'}.`)
    this.code = code
  }
}

/** How long a process may take to end after SIGTERM, in milliseconds of real time; then it gets SIGKILL. */
const graceMs = 1_000
/** How long output is waited for after everything that is known to write it has ended. */
const drainMs = 300
const pollMs = 20

const isWindows = process.platform === 'win32'

/** A process that leads its group, and how what it has started is found. */
export interface GroupLeader {
  readonly pid: number
  readonly mark: string
  /** It is a sandbox: it is not asked to end before those in it, which end with it. */
  readonly isSandbox: boolean
  readonly startedTicks: number
}

/** Process groups under way, which end with this process. */
const groups = new Set<GroupLeader>()
let isHooked = false

/**
 * Runs a program in a process group of its own, with no input. When it ends, times out or is cancelled, the group and all
 * descendants end too: SIGTERM, then SIGKILL. One that left the group, and whose parent has ended, is found by its environment on
 * Linux, unless that was replaced; elsewhere it is not.
 *
 * @throws NotStarted; the signal's reason, after all processes have ended
 */
export async function runProcess(run: ProcessRun): Promise<ProcessEnd> {
  run.signal.throwIfAborted()
  const { env, mark } = run.mark === undefined ? marked(run.env) : { env: run.env, mark: run.mark }
  const child = spawn(run.file, run.args, {
    cwd: run.cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !isWindows,
    windowsHide: true,
    windowsVerbatimArguments: run.verbatim ?? false,
  })
  const { pid } = child
  if (pid === undefined) {
    const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException]
    throw new NotStarted(run.file, error.code)
  }
  child.on('error', () => {})
  const leader = leads(pid, mark, run.mark !== undefined)
  const release = endsWithThisProcess(leader)
  let stopping: Promise<void> | undefined
  let timedOut = false
  const stop = (): void => void (stopping ??= stopProcess(leader))
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, run.timeoutMs)
  run.signal.addEventListener('abort', stop)
  const closed = Promise.all(
    (['stdout', 'stderr'] as const).map((stream) => {
      child[stream].on('data', (bytes: Buffer) => {
        if (!run.output(bytes, stream)) stop()
      })
      return new Promise((resolve) => child[stream].once('close', resolve))
    }),
  )
  const exited = new Promise<readonly [number | null, string | null]>((resolve) => {
    child.once('exit', (code, name) => resolve([code, name]))
  })
  try {
    const [code, name] = await exited
    // What it has left running ends with it.
    await (stopping ??= stopProcess(leader))
    await Promise.race([closed, delay(drainMs)])
    run.signal.throwIfAborted()
    return { exitCode: code ?? undefined, signalName: name ?? undefined, timedOut }
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', stop)
    child.stdout.destroy()
    child.stderr.destroy()
    release()
  }
}

/** @param isSandbox the mark is that of what runs in it. @default false */
export function leads(pid: number, mark: string, isSandbox = false): GroupLeader {
  return { pid, mark, isSandbox, startedTicks: processLine(pid)?.startedTicks ?? 0 }
}

/** Ends a process group when this process ends. Returns a function for when the group has ended before. */
export function endsWithThisProcess(leader: GroupLeader): () => void {
  groups.add(leader)
  if (!isHooked) {
    isHooked = true
    process.once('exit', endAll)
  }
  return () => void groups.delete(leader)
}

function endAll(): void {
  const leaders = [...groups]
  if (leaders.length === 0) return
  for (const { pid } of leaders) send(isWindows ? pid : -pid, 'SIGKILL')
  const since = Math.min(...leaders.map(({ startedTicks }) => startedTicks))
  const marks = leaders.map(({ mark }) => mark)
  for (const pid of markedProcesses(marks, since)) send(pid, 'SIGKILL')
}

/**
 * Ends a process that leads its group, with the group and all that it has started, also when it has ended itself. It takes at most
 * a little more than a second.
 */
export async function stopProcess(leader: GroupLeader): Promise<void> {
  const { pid, mark, isSandbox, startedTicks } = leader
  if (isWindows) {
    await once(spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }), 'close')
    return
  }
  const inside = markedProcesses([mark], startedTicks)
  const tree = isSandbox ? inside : [...new Set([...inside, ...descendantsOf([pid])])]
  for (const target of isSandbox && inside.length > 0 ? inside : [-pid, ...tree]) send(target, 'SIGTERM')
  const end = performance.now() + graceMs
  while (isAnyAlive(pid, tree)) {
    if (performance.now() > end) {
      const late = [...markedProcesses([mark], startedTicks), ...descendantsOf([pid, ...tree])]
      for (const target of new Set([-pid, ...tree, ...late])) send(target, 'SIGKILL')
      return
    }
    await delay(pollMs)
  }
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch {
    // It has ended, or is not ours to end.
  }
}

/** A process that has ended and was not collected yet counts as alive to `kill`, not here. */
function isAnyAlive(group: number, tree: readonly number[]): boolean {
  if (![-group, ...tree].some(isThere)) return false
  if (process.platform !== 'linux') return true
  return runningProcesses().some((line) => line.state !== 'Z' && (line.group === group || tree.includes(line.pid)))
}

function isThere(target: number): boolean {
  try {
    process.kill(target, 0)
    return true
  } catch {
    return false
  }
}
