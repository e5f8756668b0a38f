import type { JsEnd, JsPlace, JsProcess, JsRun } from './js-process.ts'

/** Most processes that wait for the next call. */
const maxIdle = 16

/** Most agents that are known; those that were idle longest are forgotten. */
const maxSlots = 1_000

/** The process of one agent. */
interface Slot {
  process: JsProcess | undefined
  /** Code has run in a process that has ended since. */
  isRestarted: boolean
  /** The call before. */
  before: Promise<unknown>
  calls: number
}

/** How a call ended, and in which process. */
export interface JsResult {
  readonly end: JsEnd
  readonly process: JsProcess
  /** Values of earlier calls are gone. */
  readonly isRestarted: boolean
}

/**
 * The processes of `run_js`: one an agent, from its first call on. They end with this object, and with the program. Of those that
 * wait at most 16 are kept; then the one that was used longest ago is ended.
 */
export class JsProcesses {
  /** By agent, in the order of their use. */
  readonly #slots = new Map<string, Slot>()
  #isClosed = false

  /**
   * Does some work with the process of an agent when the work that was asked for before is done. The turn is taken before this
   * returns. @throws the reason of the signal, also while it waits
   */
  async inTurn<Result>(
    agent: string,
    signal: AbortSignal,
    work: (run: (place: JsPlace, run: JsRun) => Promise<JsResult>) => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted()
    if (this.#isClosed) throw new Error('The processes of run_js were closed.')
    const slot = this.#slots.get(agent) ?? {
      process: undefined,
      isRestarted: false,
      before: Promise.resolve(),
      calls: 0,
    }
    this.#slots.delete(agent)
    this.#slots.set(agent, slot)
    slot.calls++
    const waiting = Promise.withResolvers<never>()
    const stop = (): void => waiting.reject(signal.reason as Error)
    signal.addEventListener('abort', stop)
    const turn = slot.before.then(() => {
      signal.removeEventListener('abort', stop)
      signal.throwIfAborted()
      return work((place, run) => this.#run(slot, place, run))
    })
    slot.before = turn.catch(() => undefined)
    try {
      return await Promise.race([turn, waiting.promise])
    } finally {
      slot.calls--
      this.#endIdle()
    }
  }

  /** Is there a process of the agent? */
  has(agent: string): boolean {
    return this.#slots.get(agent)?.process !== undefined
  }

  /** Ends all processes. Calls under way get an error. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#slots.values()].map(async ({ process }) => process?.end()))
    this.#slots.clear()
  }

  async #run(slot: Slot, place: JsPlace, run: JsRun): Promise<JsResult> {
    const { JsProcess } = await import('./js-process.ts')
    // A process that ends of itself between two calls may be found dead only when it is asked.
    for (let isSecond = false; ; isSecond = true) {
      run.signal.throwIfAborted()
      if (this.#isClosed) throw new Error('The processes of run_js were closed.')
      const process = (slot.process ??= await JsProcess.start(place))
      if (this.#isClosed) {
        await process.end()
        throw new Error('The processes of run_js were closed.')
      }
      const { isRestarted } = slot
      const end = await process.run(run).finally(() => {
        if (process.isOver) slot.process = undefined
        if (process.hasRun) slot.isRestarted = process.isOver
      })
      if (end.type !== 'not-begun' || isSecond) return { end, process, isRestarted }
    }
  }

  #endIdle(): void {
    const idle = [...this.#slots].filter(([, { calls }]) => calls === 0)
    const waiting = idle.filter(([, { process }]) => process !== undefined)
    for (const [, slot] of waiting.slice(0, Math.max(0, waiting.length - maxIdle))) {
      void slot.process?.end()
      slot.process = undefined
      slot.isRestarted = true
    }
    for (const [agent, { process }] of idle) {
      if (this.#slots.size <= maxSlots) return
      if (process === undefined) this.#slots.delete(agent)
    }
  }
}
