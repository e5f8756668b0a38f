import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inject, onTestFinished } from 'vitest'
import { root, type SeatCall } from '../../contracts/dispatcher-seat.ts'
import type { SeatedWorker, Seats } from '../../contracts/dispatcher-suite.ts'
import { newSchema, storeIn } from './stores.ts'

/** What a worker process is started with, as JSON on its command line. */
export interface SeatOptions {
  readonly database: string
  readonly schema: string
  readonly leaseMs: number
  readonly cap: number
  readonly dispatcher: 'dbos' | 'postgres'
}

/** What it is asked, a line each. */
export interface SeatRequest {
  readonly id: number
  readonly call: SeatCall
  readonly args: readonly unknown[]
}

interface SeatAnswer {
  readonly id: number
  readonly result?: unknown
  readonly code?: string
  readonly message?: string
}

const longMs = 60_000
const shortMs = 1_000

/** An empty fleet whose workers are processes. */
export async function seatsOver({
  cap,
  dispatcher,
  hasShortLease = false,
}: Pick<SeatOptions, 'cap' | 'dispatcher'> & { readonly hasShortLease?: boolean }): Promise<Seats> {
  const schema = newSchema()
  const { epoch } = await storeIn(schema).open(root)
  return {
    epoch,
    worker: async () => {
      const leaseMs = hasShortLease ? shortMs : longMs
      const seat = await SeatProcess.start({ database: inject('postgres'), schema, leaseMs, cap, dispatcher })
      onTestFinished(() => seat.end())
      return seat.worker
    },
  }
}

const program = join(import.meta.dirname, '../../programs/dispatcher-seat.ts')

/** A worker in a process of its own. */
class SeatProcess {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #asked = 0

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(options: SeatOptions): Promise<SeatProcess> {
    const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] })
    const seat = new SeatProcess(child)
    const ready = Promise.withResolvers<unknown>()
    seat.#waiting.set(0, ready)
    createInterface({ input: child.stdout }).on('line', (line) => seat.#hear(JSON.parse(line) as SeatAnswer))
    child.once('exit', () => {
      for (const { reject } of seat.#waiting.values()) reject(new Error('The worker process has ended.'))
    })
    await ready.promise
    return seat
  }

  get worker(): SeatedWorker {
    const ask =
      <T>(call: SeatCall) =>
      (...args: readonly unknown[]): Promise<T> =>
        this.#ask(call, args) as Promise<T>
    return {
      launch: ask('launch'),
      withdraw: ask('withdraw'),
      position: ask('position'),
      next: ask('next'),
      giveBack: ask('giveBack'),
      slotAgain: ask('slotAgain'),
      putBack: ask('putBack'),
      rest: ask('rest'),
      finished: ask('finished'),
      holds: ask('holds'),
      post: ask('post'),
      kill: () => this.end(),
      hang: async () => void this.#child.kill('SIGSTOP'),
      wake: async () => void this.#child.kill('SIGCONT'),
    }
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }

  #ask(call: SeatCall, args: readonly unknown[]): Promise<unknown> {
    const id = ++this.#asked
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(id, answer)
    this.#child.stdin?.write(`${JSON.stringify({ id, call, args } satisfies SeatRequest)}\n`)
    return answer.promise
  }

  #hear({ code, id, message, result }: SeatAnswer): void {
    const answer = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (message === undefined) answer?.resolve(result)
    else answer?.reject(Object.assign(new Error(message), { code }))
  }
}
