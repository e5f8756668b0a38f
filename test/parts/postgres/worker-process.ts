import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ClerksOptions, Said } from './clerks.ts'

const program = join(import.meta.dirname, '../../programs/fleet-worker.ts')

/** Something that a worker process said. */
export type Heard = Said & { readonly pid: number; readonly atMs: number }

/** A worker of the fleet of desks and clerks, in a process of its own. */
export class WorkerProcess {
  readonly pid: number
  readonly ended: Promise<unknown>
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
    this.pid = child.pid ?? 0
    this.ended = once(child, 'close')
  }

  /** @param heard gets all that it says */
  static start(options: ClerksOptions, heard: (said: Heard) => void): WorkerProcess {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] })
    const worker = new WorkerProcess(child)
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => {
      // What a kill has cut off is not said.
      if (line.endsWith('}')) heard({ ...(JSON.parse(line) as Said), pid: worker.pid, atMs: performance.now() })
    })
    return worker
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.ended
  }
}

/** Worker processes of one fleet, and all that they say. */
export class WorkerProcesses {
  readonly heard: Heard[] = []
  readonly all: WorkerProcess[] = []
  readonly #options: ClerksOptions
  readonly #news = new EventEmitter<{ said: [Heard] }>().setMaxListeners(0)

  constructor(options: ClerksOptions) {
    this.#options = options
  }

  get running(): readonly WorkerProcess[] {
    return this.all.filter(({ isRunning }) => isRunning)
  }

  /** Resolves once it works. */
  async start(options: Partial<ClerksOptions> = {}): Promise<WorkerProcess> {
    const worker = WorkerProcess.start({ ...this.#options, ...options }, (said) => {
      this.heard.push(said)
      this.#news.emit('said', said)
    })
    this.all.push(worker)
    const isReady = await Promise.race([
      this.says(({ pid, what }) => pid === worker.pid && what === 'ready').then(() => true),
      worker.ended.then(() => false),
    ])
    if (!isReady) throw new Error('A worker process has ended before it was ready.')
    return worker
  }

  /** Resolves with the first thing of this sort that is said from now on. */
  says(isIt: (said: Heard) => boolean): Promise<Heard> {
    return new Promise((resolve) => {
      const hear = (said: Heard): void => {
        if (!isIt(said)) return
        this.#news.off('said', hear)
        resolve(said)
      }
      this.#news.on('said', hear)
    })
  }

  /** Runs of tools of a restart class, as text that is the same for the same call. */
  runs(restart: string): readonly string[] {
    return this.heard.flatMap((said) =>
      said.what === 'tool' && said.restart === restart ? `${said.job} ${said.step} ${said.key}` : [],
    )
  }

  /** Those of them that ran before. */
  doubles(restart: string): readonly string[] {
    const runs = this.runs(restart)
    return runs.filter((run, index) => runs.indexOf(run) !== index)
  }

  async end(): Promise<void> {
    await Promise.all(this.all.map((worker) => worker.kill()))
  }
}
