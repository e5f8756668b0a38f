import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { plainText } from '../../tools/files/clean-text.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { cutStart } from '../../base/cut-text.ts'
import type { Fault } from '../../sim/fault.ts'
import type { SimulateOptions } from '../../sim/options.ts'
import type { RangeResult, SeedRange } from './seed-ranges.ts'

export type JobOrder =
  | { readonly do: 'sweep'; readonly story: string; readonly range: SeedRange; readonly keepGoing: boolean }
  /** Runs a failed seed again, shrinks it and reports. */
  | { readonly do: 'report'; readonly story: string; readonly seed: number }

/** `ready` when the file is loaded, then one answer per order. */
export type JobAnswer =
  | { readonly did: 'ready' }
  | { readonly did: 'sweep'; readonly result: RangeResult<SimFailure> }
  | { readonly did: 'report'; readonly failure: SimFailure | undefined }
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
  readonly shrunk?: { readonly faults: readonly Fault[]; readonly latencyMs?: SimulateOptions['latencyMs'] }
  readonly report: string
}

/** Keeps the end of a job's stderr to explain its death. */
const maxKeptChars = 2_000

/** At most one per core and one per seed. */
export function jobCount(wanted: number, seeds: number): number {
  return Math.min(wanted, seeds, availableParallelism())
}

/** A child process that runs seeds of a file, one order at a time. */
export class Job {
  readonly #child: ChildProcess
  readonly #file: string
  #waiting: PromiseWithResolvers<JobAnswer> | undefined
  #complaint = ''
  #doing = 'loads it'

  /** @param words the command line that the file is appended to */
  constructor(file: string, words: readonly string[]) {
    const [script = '', ...rest] = words
    this.#file = file
    this.#child = fork(script, [...rest, file], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = cutStart(this.#complaint + text, maxKeptChars)
    })
    this.#child.on('message', (answer: JobAnswer) => this.#settle((waiting) => waiting.resolve(answer)))
    this.#child.once('close', (code, signal) => {
      const why = plainText(this.#complaint).trim()
      const how = signal === null ? `with ${code}` : `by ${signal}`
      const what = `A job of ${file} ended ${how} while it ${this.#doing}`
      const error = new EntiaError('invalid-argument', why === '' ? `${what}.` : `${what}:\n${why}`)
      this.#settle((waiting) => waiting.reject(error))
    })
  }

  /** Resolves when the file is loaded. */
  async ready(): Promise<void> {
    await this.#answer()
  }

  /** @throws `invalid-argument` if the order fails or the process has ended */
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
