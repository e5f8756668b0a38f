import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

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

/** Process groups under way, which end with this process. */
const groups = new Set<number>()
let isHooked = false

/**
 * Runs a program in a process group of its own, with no input. When it ends, times out or is cancelled, the group and all
 * descendants end too: SIGTERM, then SIGKILL. One that left the group, and whose parent has ended, is not found.
 *
 * @throws NotStarted; the signal's reason, after all processes have ended
 */
export async function runProcess(run: ProcessRun): Promise<ProcessEnd> {
  run.signal.throwIfAborted()
  const child = spawn(run.file, run.args, {
    cwd: run.cwd,
    env: run.env,
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
  remember(pid)
  let stopping: Promise<void> | undefined
  let timedOut = false
  const stop = (): void => void (stopping ??= stopTree(pid, descendantsOf([pid])))
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
    // What it has left in its group ends with it.
    await (stopping ??= stopTree(pid, []))
    await Promise.race([closed, delay(drainMs)])
    run.signal.throwIfAborted()
    return { exitCode: code ?? undefined, signalName: name ?? undefined, timedOut }
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener('abort', stop)
    child.stdout.destroy()
    child.stderr.destroy()
    groups.delete(pid)
  }
}

/** Ends a process group when this process ends. Returns a function for when the group has ended before. */
export function endsWithThisProcess(pid: number): () => void {
  remember(pid)
  return () => void groups.delete(pid)
}

function remember(pid: number): void {
  groups.add(pid)
  if (isHooked) return
  isHooked = true
  process.once('exit', () => {
    for (const group of groups) send(isWindows ? group : -group, 'SIGKILL')
  })
}

/** Ends a process that leads its group, with the group and all descendants. It takes at most a little more than a second. */
export function stopProcess(pid: number): Promise<void> {
  return stopTree(pid, descendantsOf([pid]))
}

/** Ends a process, its group and its descendants. Takes at most a little more than `graceMs`. */
async function stopTree(pid: number, tree: readonly number[]): Promise<void> {
  if (isWindows) {
    await once(spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }), 'close')
    return
  }
  for (const target of [-pid, ...tree]) send(target, 'SIGTERM')
  const end = performance.now() + graceMs
  while (isAlive(-pid) || tree.some(isAlive)) {
    if (performance.now() > end) {
      for (const target of [-pid, ...tree, ...descendantsOf([pid, ...tree])]) send(target, 'SIGKILL')
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
function isAlive(target: number): boolean {
  try {
    process.kill(target, 0)
  } catch {
    return false
  }
  if (process.platform !== 'linux') return true
  return processes().some(({ pid, group, state }) => (target < 0 ? group === -target : pid === target) && state !== 'Z')
}

/** Processes that these have started, and so on. Linux tells; elsewhere the group has to do. */
function descendantsOf(roots: readonly number[]): number[] {
  if (process.platform !== 'linux') return []
  const byParent = Map.groupBy(processes(), ({ parent }) => parent)
  const found = new Set<number>()
  const open = [...roots]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { pid } of byParent.get(next) ?? []) {
      if (found.has(pid)) continue
      found.add(pid)
      open.push(pid)
    }
  }
  return [...found]
}

interface ProcessLine {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly group: number
}

function processes(): ProcessLine[] {
  const lines: ProcessLine[] = []
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1')
      // The name of the program stands in parentheses, and may hold any character.
      const [state = '', parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ')
      lines.push({ pid: Number(name), state, parent: Number(parent), group: Number(group) })
    } catch {
      // It has ended meanwhile.
    }
  }
  return lines
}
