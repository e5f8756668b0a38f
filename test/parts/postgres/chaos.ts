import { setTimeout } from 'node:timers/promises'
import { Load, type LoadResult } from './chaos-load.ts'
import { ChaosWatch } from './chaos-watch.ts'
import { clerks, type ClerksOptions } from './clerks.ts'
import { dice, type Dice } from './dice.ts'
import { type Mishap, Proxy } from './proxy.ts'
import { PostgresServer } from './server.ts'
import { type WorkerProcess, WorkerProcesses } from './worker-process.ts'

/** What happens to a fleet at work, and how often. */
export interface Mishaps {
  /** A worker is killed by `kill -9`. */
  readonly kills: number
  /** A worker that holds a root world with sessions under way is killed. */
  readonly rootKills: number
  /** A worker is stopped by SIGSTOP, and woken once all that it had is with others. */
  readonly pauses: number
  /** Postgres is killed and started again. */
  readonly restarts: number
  /** Some of the workers' connections are cut. */
  readonly cuts: number
  /** All answers of Postgres to workers are kept back for a while. */
  readonly delays: number
  /** A statement or its answer is lost, or comes twice, the first time late. */
  readonly losses: number
}

export interface ChaosOptions extends Mishaps {
  readonly seed: number
  /** Worker processes that are there at any time, besides those that were just killed. */
  readonly workers: number
  readonly maxSessions: number
  readonly desks: number
  /** Sessions of each question. */
  readonly jobs: number
  readonly leaseMs: number
  readonly steps: number
  /** Hears how far it is. */
  readonly onProgress?: (done: number, of: number, what: string, answered: number) => void
}

export interface ChaosResult extends LoadResult {
  readonly tookMs: number
  readonly done: Mishaps
  readonly workersStarted: number
  /** From a kill until another holds the world, for each that was at work. */
  readonly killedMs: readonly number[]
  readonly rootKilledMs: readonly number[]
  readonly pausedMs: readonly number[]
  /** From the kill of Postgres until a session works again. */
  readonly restartedMs: readonly number[]
  readonly toolRuns: Readonly<Record<'keyed' | 'once' | 'pure', number>>
  /** Runs of a tool for the same step of the same session. */
  readonly again: Readonly<Record<'keyed' | 'once' | 'pure', number>>
  readonly samples: number
  readonly samplesOver: number
  readonly mostSlots: number
  readonly leftovers: readonly string[]
}

/** How long an outage is waited for until it counts as one without end. */
const longestMs = 60_000
const heldUpMs = [50, 200, 1_000]
const schema = 'entia'
/** What the names of statements begin with that are sent all the time. */
const losable = ['worlds', 'take', 'park', 'line', 'line-next', 'line-enter', 'line-finish'].map(
  (name) => `entia-${name}`,
)
const losses: readonly Mishap[] = ['answer lost', 'query lost', 'query late']

/** Breaks everything that a fleet stands on while it works, one after the other, and says what has come of the work. */
export async function chaos(options: ChaosOptions): Promise<ChaosResult> {
  const server = await PostgresServer.start()
  try {
    const proxy = await Proxy.start(server.url())
    try {
      return await new Chaos(options, server, proxy).run()
    } finally {
      await proxy.close()
    }
  } finally {
    await server.stop()
  }
}

class Chaos {
  readonly #options: ChaosOptions
  readonly #server: PostgresServer
  readonly #proxy: Proxy
  readonly #dice: Dice
  readonly #workers: WorkerProcesses
  readonly #watch: ChaosWatch
  readonly #clerks: ClerksOptions
  readonly #done = { kills: 0, rootKills: 0, pauses: 0, restarts: 0, cuts: 0, delays: 0, losses: 0 }
  readonly #times = {
    kills: [] as number[],
    rootKills: [] as number[],
    pauses: [] as number[],
    restarts: [] as number[],
  }

  constructor(options: ChaosOptions, server: PostgresServer, proxy: Proxy) {
    const { leaseMs, maxSessions, seed, steps } = options
    this.#options = options
    this.#server = server
    this.#proxy = proxy
    this.#dice = dice(seed)
    this.#clerks = { database: server.url(), schema, leaseMs, maxSessions, steps, workMs: 25, idleMs: 50 }
    this.#workers = new WorkerProcesses({ ...this.#clerks, database: proxy.url, sessions: maxSessions })
    this.#watch = new ChaosWatch(server.url(), schema, maxSessions)
  }

  async run(): Promise<ChaosResult> {
    const { desks, jobs, onProgress, workers } = this.#options
    const beganAt = performance.now()
    const front = clerks(this.#clerks)
    try {
      await front.status()
      await Promise.all(Array.from({ length: workers }, () => this.#workers.start()))
      const load = new Load(front, { desks, jobs })
      const mishaps = this.#shuffled()
      for (const [index, what] of mishaps.entries()) {
        await this.#work(this.#dice.below(20))
        await this.#happens(what)
        this.#done[what]++
        onProgress?.(index + 1, mishaps.length, what, load.answered)
      }
      const result = await load.end(longestMs)
      return { ...result, ...(await this.#counted()), tookMs: performance.now() - beganAt }
    } finally {
      await this.#workers.end()
      await this.#watch.end()
      await front.close()
    }
  }

  #shuffled(): readonly (keyof Mishaps)[] {
    const { cuts, delays, kills, losses: lost, pauses, restarts, rootKills } = this.#options
    const counts = { kills, rootKills, pauses, restarts, cuts, delays, losses: lost }
    return this.#dice.shuffled(
      Object.entries(counts).flatMap(([what, count]) => Array<keyof Mishaps>(count).fill(what as keyof Mishaps)),
    )
  }

  /** Resolves once so many more tools have run. */
  async #work(tools: number): Promise<void> {
    for (let done = 0; done <= tools; done++)
      await inTime(
        'tool',
        this.#workers.says(({ what }) => what === 'tool'),
      )
  }

  async #happens(what: keyof Mishaps): Promise<void> {
    if (what === 'kills') return this.#kill(this.#dice.one(this.#workers.running), 'kills')
    if (what === 'rootKills') return this.#killRootHolder()
    if (what === 'pauses') return this.#pause()
    if (what === 'restarts') return this.#restart()
    if (what === 'delays') return this.#delay()
    if (what === 'losses') return this.#lose()
    this.#proxy.cutSome(() => this.#dice.below(2) === 0)
  }

  async #kill(worker: WorkerProcess, what: 'kills' | 'rootKills'): Promise<void> {
    const held = await this.#watch.heldBy(worker.pid)
    await worker.kill()
    // What a supervisor would start meanwhile takes part of the machine that those who live need to go on.
    this.#times[what].push(...(await this.#watch.takenOver(held, longestMs)))
    await this.#workers.start()
  }

  async #killRootHolder(): Promise<void> {
    for (;;) {
      const holders = new Set(await this.#watch.rootHolders())
      const worker = this.#workers.running.find(({ pid }) => holders.has(pid))
      if (worker !== undefined) return this.#kill(worker, 'rootKills')
      await this.#work(1)
    }
  }

  async #pause(): Promise<void> {
    const worker = this.#dice.one(this.#workers.running)
    const held = await this.#watch.heldBy(worker.pid)
    worker.signal('SIGSTOP')
    this.#times.pauses.push(...(await this.#watch.takenOver(held, longestMs)))
    worker.signal('SIGCONT')
  }

  async #restart(): Promise<void> {
    const beganAt = performance.now()
    await this.#server.kill()
    await this.#server.begin()
    await this.#work(1)
    this.#times.restarts.push(performance.now() - beganAt)
  }

  async #delay(): Promise<void> {
    this.#proxy.holdUp()
    await setTimeout(this.#dice.one(heldUpMs))
    this.#proxy.letThrough()
  }

  async #lose(): Promise<void> {
    const statement = this.#dice.one(losable)
    await inTime(statement, this.#proxy.next(this.#dice.one(losses), statement))
    await this.#work(this.#dice.below(20))
    await this.#proxy.deliver()
  }

  async #counted() {
    const { mostSlots, samples, samplesOver } = this.#watch
    const runs = (restart: string): readonly string[] =>
      this.#workers.heard.flatMap((said) =>
        said.what === 'tool' && said.restart === restart ? `${said.job} ${said.step}` : [],
      )
    const count = <T>(of: (all: readonly string[]) => T) => ({
      once: of(runs('once')),
      keyed: of(runs('keyed')),
      pure: of(runs('pure')),
    })
    return {
      done: { ...this.#done },
      workersStarted: this.#workers.all.length,
      killedMs: this.#times.kills,
      rootKilledMs: this.#times.rootKills,
      pausedMs: this.#times.pauses,
      restartedMs: this.#times.restarts,
      toolRuns: count((all) => all.length),
      again: count((all) => all.length - new Set(all).size),
      samples,
      samplesOver,
      mostSlots,
      leftovers: await this.#watch.leftovers(),
    }
  }
}

/** @throws where something that happens all the time does not happen for longer than any outage may last */
async function inTime(what: string, happened: Promise<unknown>): Promise<void> {
  const isOver = new AbortController()
  const late = setTimeout(longestMs, true, { signal: isOver.signal }).catch(() => false)
  const isLate = await Promise.race([late, happened.then(() => false)])
  isOver.abort()
  if (isLate) throw new Error(`No ${what} has run for ${longestMs / 1_000} s.`)
}
