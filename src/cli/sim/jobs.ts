import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { cleanText } from '../../tools/files/clean-text.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { cutStart } from '../../rules/text/cut-text.ts'
import type { Fault } from '../../sim/fault.ts'
import type { SimulateOptions } from '../../sim/options.ts'
import type { RangeResult, SeedRange } from './seed-ranges.ts'

/** What a job is to do. */
export type JobOrder =
  | { readonly do: 'sweep'; readonly story: string; readonly range: SeedRange; readonly keepGoing: boolean }
  /** Runs one seed that failed once more, makes the case smaller, and reports. */
  | { readonly do: 'report'; readonly story: string; readonly seed: number }

/** What it says: `ready` once it has loaded the file, and then one answer to each order. */
export type JobAnswer =
  | { readonly did: 'ready' }
  | { readonly did: 'sweep'; readonly result: RangeResult<SimFailure> }
  | { readonly did: 'report'; readonly failure: SimFailure | undefined }
  /** It could not be done. */
  | { readonly did: 'nothing'; readonly message: string }

/** A run that broke a law, as plain data. */
export interface SimFailure {
  readonly seed: number
  readonly law: string
  readonly meaning: string
  readonly message: string
  readonly world: string
  readonly tick: number
  readonly atMs: number
  readonly faults: readonly Fault[]
  /** The smaller case that was found. */
  readonly shrunk?: { readonly faults: readonly Fault[]; readonly latencyMs?: SimulateOptions['latencyMs'] }
  readonly report: string
}

/** Of what a job writes to its error output, so much is kept to tell why it died. */
const maxKeptChars = 2_000

/** So many jobs are started: as many as are wanted and of use, one a core at most. */
export function jobCount(wanted: number, seeds: number): number {
  return Math.min(wanted, seeds, availableParallelism())
}

/** A process that runs seeds of a file. It does one thing after the other. */
export class Job {
  readonly #child: ChildProcess
  readonly #file: string
  #waiting: PromiseWithResolvers<JobAnswer> | undefined
  #complaint = ''
  #doing = 'loads it'

  /** @param words the command line behind which it is to stand */
  constructor(file: string, words: readonly string[]) {
    const [script = '', ...rest] = words
    this.#file = file
    this.#child = fork(script, [...rest, file], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = cutStart(this.#complaint + text, maxKeptChars)
    })
    this.#child.on('message', (answer: JobAnswer) => this.#settle((waiting) => waiting.resolve(answer)))
    this.#child.once('close', (code, signal) => {
      const why = cleanText(this.#complaint).trim()
      const how = signal === null ? `with ${code}` : `by ${signal}`
      const what = `A job of ${file} ended ${how} while it ${this.#doing}`
      const error = new EntiaError('invalid-argument', why === '' ? `${what}.` : `${what}:\n${why}`)
      this.#settle((waiting) => waiting.reject(error))
    })
  }

  /** Resolves once it has loaded the file. */
  async ready(): Promise<void> {
    await this.#answer()
  }

  /** Does something. @throws `invalid-argument` if it cannot, or if the process has ended */
  async ask(order: JobOrder, doing: string): Promise<JobAnswer> {
    this.#doing = doing
    if (!this.#child.connected) {
      throw new EntiaError('invalid-argument', `A job of ${this.#file} has ended: it cannot be asked any more.`)
    }
    const answer = this.#answer()
    this.#child.send(order)
    const given = await answer
    if (given.did === 'nothing') throw new EntiaError('invalid-argument', given.message)
    return given
  }

  /** Ends it, whatever it does. */
  end(): void {
    this.#child.kill('SIGKILL')
  }

  #answer(): Promise<JobAnswer> {
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  #settle(how: (waiting: PromiseWithResolvers<JobAnswer>) => void): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) how(waiting)
  }
}
