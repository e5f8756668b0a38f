import { SessionPool } from '../engine/children/pool.ts'
import type { PoolEvent } from './law.ts'

/** A session pool that tells who enters, who is given a slot, and who leaves. */
export class PoolWatch extends SessionPool {
  readonly #inner: SessionPool
  readonly #tell: (event: PoolEvent) => void
  /** Those who are in line or have a slot, each with the visit that it is on. */
  readonly #present = new Map<string, object>()

  constructor(inner: SessionPool, tell: (event: PoolEvent) => void) {
    super({ cap: inner.cap })
    this.#inner = inner
    this.#tell = tell
  }

  override get running(): number {
    return this.#inner.running
  }

  override async enter(key: string, place: 'first' | 'return'): Promise<boolean> {
    const visit = {}
    this.#present.set(key, visit)
    this.#tell({ type: 'entered', key, place })
    const hasSlot = await this.#inner.enter(key, place)
    if (hasSlot && this.#present.get(key) === visit) this.#tell({ type: 'granted', key })
    return hasSlot
  }

  override position(key: string): number | undefined {
    return this.#inner.position(key)
  }

  override leave(key: string): void {
    if (this.#present.delete(key)) this.#tell({ type: 'left', key })
    this.#inner.leave(key)
  }
}
