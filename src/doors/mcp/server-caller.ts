import type { Clock } from '../../engine/loop/clock.ts'
import type { Entity } from '../../world/component.ts'
import type { ServerCalls } from './server-calls.ts'

/** One who calls tools: a connection, a session, or all clients whose protocol has no sessions. Known from its first call on. */
export class ServerCaller {
  readonly #calls: ServerCalls
  readonly #idle: { readonly clock: Clock; readonly ms: number } | undefined
  #caller: Promise<Entity> | undefined
  #uses = 0
  #cancelTimer: (() => void) | undefined

  /** @param idle forgets what it keeps after this time without a call. @default only when it is closed */
  constructor(calls: ServerCalls, idle?: { readonly clock: Clock; readonly ms: number }) {
    this.#calls = calls
    this.#idle = idle
  }

  /** Calls of it are at work. */
  get isBusy(): boolean {
    return this.#uses > 0
  }

  async use<T>(work: (caller: Entity) => Promise<T>): Promise<T> {
    this.#cancelTimer?.()
    this.#uses++
    try {
      return await work(await (this.#caller ??= this.#calls.addCaller()))
    } finally {
      if (--this.#uses === 0) this.#forgetLater()
    }
  }

  /** Stops its calls, and forgets what it keeps. */
  async close(): Promise<void> {
    this.#cancelTimer?.()
    const caller = this.#caller
    this.#caller = undefined
    if (caller !== undefined) await this.#calls.removeCaller(await caller)
  }

  #forgetLater(): void {
    if (this.#idle === undefined || this.#caller === undefined) return
    const { clock, ms } = this.#idle
    this.#cancelTimer = clock.at(clock.now() + ms, () => void this.close().catch(() => undefined))
  }
}
