import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Worker processes, as a supervisor keeps them: one that dies is replaced. */
export class Workers {
  readonly #wanted: number
  /** Those that are starting, too. */
  readonly #children = new Set<ChildProcess>()
  readonly #working = new Set<ChildProcess>()
  killed = 0
  #isClosing = false

  constructor(wanted: number) {
    this.#wanted = wanted
  }

  get count(): number {
    return this.#working.size
  }

  /** Resolves once all of them work. */
  async open(): Promise<void> {
    await Promise.all(Array.from({ length: this.#wanted }, () => this.#start()))
  }

  /** Kills one of them in the midst of its work, unless one is missing already. */
  killOne(): void {
    const one = [...this.#working][Math.floor(Math.random() * this.#wanted)]
    if (one === undefined || this.count < this.#wanted) return
    one.kill('SIGKILL')
    this.killed++
  }

  /** Lets all of them end in order. */
  async close(): Promise<void> {
    this.#isClosing = true
    const ends = [...this.#children].map(async (child) => {
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    })
    await Promise.all(ends)
  }

  async #start(): Promise<void> {
    const child = fork(join(import.meta.dirname, 'worker.ts'))
    this.#children.add(child)
    child.once('exit', () => {
      this.#children.delete(child)
      this.#working.delete(child)
      if (!this.#isClosing) void this.#start()
    })
    await Promise.race([once(child, 'message'), once(child, 'exit')])
    if (this.#children.has(child)) this.#working.add(child)
  }
}
