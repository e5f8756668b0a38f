import type { Queue, QueueAddOptions, RunFunction } from 'p-queue'

/** By which priority a session waits: one that returns goes ahead of all that come for the first time. */
export const priorityOf = { first: 0, return: 1 } as const

/**
 * The line before the pool: two lanes, each first in, first out. Joining it, leaving it from anywhere and being called up
 * cost the same, however long it is; p-queue's own line searches for a session that leaves.
 */
export class AdmissionLine implements Queue<RunFunction, QueueAddOptions> {
  readonly #returning = new Lane()
  readonly #coming = new Lane()

  get size(): number {
    return this.#returning.size + this.#coming.size
  }

  enqueue(run: RunFunction, { id = '', priority = priorityOf.first }: Partial<QueueAddOptions> = {}): void {
    this.#lane(priority).join(id, run)
  }

  dequeue(): RunFunction | undefined {
    return this.#returning.callUp() ?? this.#coming.callUp()
  }

  remove(id: string): void {
    if (this.#returning.leave(id) === undefined) this.#coming.leave(id)
  }

  setPriority(id: string, priority: number): void {
    const run = this.#returning.leave(id) ?? this.#coming.leave(id)
    if (run) this.enqueue(run, { id, priority })
  }

  filter({ priority = priorityOf.first }: Readonly<Partial<QueueAddOptions>>): RunFunction[] {
    return this.#lane(priority).all()
  }

  #lane(priority: number): Lane {
    return priority > priorityOf.first ? this.#returning : this.#coming
  }
}

class Lane {
  readonly #waiting = new Map<string, RunFunction>()
  /** Stands at the head and is kept, as a new one would pass over all that have gone before. */
  #head = this.#waiting.entries()

  get size(): number {
    return this.#waiting.size
  }

  join(id: string, run: RunFunction): void {
    this.#waiting.set(id, run)
  }

  leave(id: string): RunFunction | undefined {
    const run = this.#waiting.get(id)
    this.#waiting.delete(id)
    return run
  }

  callUp(): RunFunction | undefined {
    if (this.size === 0) return undefined
    let head = this.#head.next()
    if (head.done === true) {
      this.#head = this.#waiting.entries()
      head = this.#head.next()
    }
    return head.done === true ? undefined : this.leave(head.value[0])
  }

  all(): RunFunction[] {
    return [...this.#waiting.values()]
  }
}
