import PQueue, { type Queue, type QueueAddOptions, type RunFunction } from 'p-queue'
import type { Clock } from '../loop/clock.ts'

interface TakeOptions {
  readonly isReturning?: boolean
  readonly signal?: AbortSignal
}

/**
 * Room for so much work at once: sessions of a pool, calls of a provider, all effects of a Host. Work begins at once while
 * there is room; p-queue holds work that has to wait, and a job in it lasts one stay in a slot.
 */
export class Slots {
  readonly #max: number
  #line: PQueue<Line> | undefined
  /** Stays that began without waiting, which the line does not count. */
  #direct = 0
  /** Of these, those that end in this moment. */
  #ending = 0
  #running = 0
  #ids = 0
  #hold: { readonly untilMs: number; readonly cancel: () => void } | undefined

  readonly #endDirect = (): void => {
    if (this.#ending++ === 0) queueMicrotask(this.#endAll)
  }

  /** In a microtask, as in p-queue: what returns to the line in the same moment goes ahead. */
  readonly #endAll = (): void => {
    this.#direct -= this.#ending
    this.#ending = 0
    if (this.#line !== undefined && this.#line.size > 0) this.#fit()
  }

  constructor(max: number) {
    this.#max = max
  }

  get running(): number {
    return this.#running
  }

  get isHeld(): boolean {
    return this.#hold !== undefined
  }

  /**
   * Begins work in a slot, behind all that waits already. `begin` gets the function that gives the slot back; idempotent.
   * @param options `isReturning`: it had a slot before, and goes ahead of work that never had one; `signal`: leaves the line
   */
  take(begin: (leave: () => void) => void, options: TakeOptions = {}): void {
    const isRoom = !this.isHeld && this.#direct + (this.#line?.pending ?? 0) < this.#max
    if (!isRoom || (this.#line?.size ?? 0) > 0) return this.#wait(begin, options)
    this.#direct++
    begin(this.#begun(this.#endDirect))
  }

  /** Begins nothing for so long. Returns the instant, on the clock, at which it continues. */
  hold(clock: Clock, durationMs: number): number {
    const untilMs = Math.max(clock.now() + durationMs, this.#hold?.untilMs ?? 0)
    this.cancelHold()
    this.#line?.pause()
    const release = (): void => {
      this.#hold = undefined
      this.#fit()
    }
    this.#hold = { untilMs, cancel: clock.at(untilMs, release) }
    return untilMs
  }

  cancelHold(): void {
    this.#hold?.cancel()
    this.#hold = undefined
  }

  #wait(begin: (leave: () => void) => void, { isReturning = false, signal }: TakeOptions): void {
    const line = (this.#line ??= new PQueue({ queueClass: Line }))
    // While something waits, work that ends keeps the line fitted.
    if (line.size === 0) this.#fit()
    const job = (): Promise<void> => new Promise((resolve) => begin(this.#begun(resolve)))
    const options = { id: `${this.#ids++}`, priority: isReturning ? 1 : 0, ...(signal && { signal }) }
    // Rejects only if the signal aborts.
    line.add(job, options).catch(() => undefined)
  }

  #begun(end: () => void): () => void {
    this.#running++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#running--
      end()
    }
  }

  /** Leaves the line as much room as work that began without waiting does not take. */
  #fit(): void {
    const line = this.#line
    if (line === undefined) return
    const room = this.#max - this.#direct
    if (this.isHeld || room <= 0) return line.pause()
    line.concurrency = room
    line.start()
  }
}

/**
 * Two lanes, each first in, first out. Joining, leaving from anywhere and being called up cost the same, however long it is;
 * p-queue's own line searches for a job that leaves.
 */
class Line implements Queue<RunFunction, QueueAddOptions> {
  readonly #returning = new Lane()
  readonly #coming = new Lane()

  get size(): number {
    return this.#returning.size + this.#coming.size
  }

  enqueue(run: RunFunction, { id = '', priority = 0 }: Partial<QueueAddOptions> = {}): void {
    this.#lane(priority).waiting.set(id, run)
  }

  dequeue(): RunFunction | undefined {
    return this.#returning.next() ?? this.#coming.next()
  }

  remove(id: string): void {
    this.#returning.waiting.delete(id)
    this.#coming.waiting.delete(id)
  }

  setPriority(id: string, priority: number): void {
    const run = this.#returning.waiting.get(id) ?? this.#coming.waiting.get(id)
    this.remove(id)
    if (run !== undefined) this.enqueue(run, { id, priority })
  }

  filter({ priority = 0 }: Readonly<Partial<QueueAddOptions>>): RunFunction[] {
    return [...this.#lane(priority).waiting.values()]
  }

  #lane(priority: number): Lane {
    return priority > 0 ? this.#returning : this.#coming
  }
}

class Lane {
  readonly waiting = new Map<string, RunFunction>()
  /** Stands at the head and is kept: a new iterator would pass over all deleted entries. */
  #head = this.waiting.entries()

  get size(): number {
    return this.waiting.size
  }

  next(): RunFunction | undefined {
    if (this.size === 0) return undefined
    let head = this.#head.next()
    if (head.done === true) head = (this.#head = this.waiting.entries()).next()
    if (head.done === true) return undefined
    const [id, run] = head.value
    this.waiting.delete(id)
    return run
  }
}
