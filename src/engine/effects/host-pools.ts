import { joinProcessPool, type PoolMembership, type SessionPool } from '../children/pool.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { HostOptions } from './host-options.ts'

/** Where a Host's sessions take their slots from: a pool of its own, or the process's while the Host is in use. */
export class HostPools {
  readonly #own: SessionPool | undefined
  readonly #cap: number | undefined
  #membership: PoolMembership | undefined

  /** @throws `invalid-argument`, `cap-conflict` */
  constructor({ maxSessions, sessionPool }: Pick<HostOptions, 'maxSessions' | 'sessionPool'>) {
    if (sessionPool !== undefined && maxSessions !== undefined) {
      throw new EntiaError('invalid-argument', "Host: maxSessions beside 'sessionPool', which has a cap of its own.")
    }
    this.#own = sessionPool
    this.#cap = maxSessions
    // Who names a cap is told at once that it cannot be had.
    if (maxSessions !== undefined) this.#membership = joinProcessPool(maxSessions)
  }

  get pool(): SessionPool {
    return this.#own ?? (this.#membership ??= joinProcessPool(this.#cap)).pool
  }

  leave(): void {
    this.#membership?.leave()
    this.#membership = undefined
  }
}
