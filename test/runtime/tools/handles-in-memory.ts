import type { HandleStore, Json, KnownHandle } from 'entia'
import { shapeOf } from '../../../src/rules/handles/shape-of.ts'

/** The handles of an agent without a World. */
export class HandlesInMemory implements HandleStore {
  readonly isReadable = true
  readonly values = new Map<string, Json>()
  readonly #known: KnownHandle[] = []

  async keep(value: Json): Promise<string> {
    const handle = this.#next()
    this.values.set(handle, value)
    this.#known.push({ handle, shape: shapeOf(value) })
    return handle
  }

  async keepLive(shape: string): Promise<string> {
    const handle = this.#next()
    this.#known.push({ handle, shape, isLive: true })
    return handle
  }

  async read(handle: string): Promise<Json | undefined> {
    return this.values.get(handle)
  }

  list(): readonly KnownHandle[] {
    return this.#known
  }

  #next(): string {
    return `.h_${String(this.#known.length + 1).padStart(3, '0')}`
  }
}
