import { minSeenInputs } from '../../../components/agent/host-facts.ts'
import type { Input } from '../../world/input.ts'
import type { World } from '../../world/world.ts'

export interface Waiter {
  resolve(tick: number): void
  reject(error: unknown): void
  /** The program awaits it, so a failure that rejects it is not silent. */
  readonly isProgram?: boolean
}

/** Takes a report of another world. Resolves once it is committed; `undefined`: it waits for the last tick of a Runner that stops. */
export type Enter = (input: Input) => Promise<unknown> | undefined

type Change = (world: World) => void

interface Entry {
  readonly input?: Input
  readonly change?: Change
  readonly waiter?: Waiter | undefined
  /** Of the letter that it lies in, in the world's store. */
  readonly letter?: number | undefined
}

/** What one tick takes: a change, if there is one, before the inputs. */
export interface Intake {
  readonly change: { readonly make: Change; readonly waiter: Waiter | undefined } | undefined
  readonly entries: readonly (Entry & { readonly input: Input })[]
}

/** Inputs and changes that wait for a tick, in order of arrival. */
export class Inbox {
  readonly #maxInputs: number
  readonly #seen = new Set<string>()
  #entries: Entry[] = []
  #next = 0

  constructor(maxInputs: number) {
    this.#maxInputs = maxInputs
  }

  get size(): number {
    return this.#entries.length - this.#next
  }

  remember(ids: Iterable<string>): void {
    for (const id of ids) this.isNew(id)
  }

  /** Is this the first time that an id comes? As many are remembered as the world remembers at most. */
  isNew(id: string): boolean {
    if (this.#seen.has(id)) return false
    this.#seen.add(id)
    if (this.#seen.size > 2 * minSeenInputs) this.#seen.delete(this.#seen.values().next().value as string)
    return true
  }

  push(input: Input, waiter?: Waiter, letter?: number): void {
    this.#entries.push(letter === undefined ? { input, waiter } : { input, waiter, letter })
  }

  pushChange(change: Change, waiter?: Waiter): void {
    this.#entries.push({ change, waiter })
  }

  take(): Intake {
    const first = this.#entries[this.#next]
    const change = first?.change === undefined ? undefined : { make: first.change, waiter: first.waiter }
    let end = this.#next + (change === undefined ? 0 : 1)
    const begin = end
    for (; end - begin < this.#maxInputs; end++) {
      const { input } = this.#entries[end] ?? {}
      // A change from before the start is an input, and must be the first of its tick.
      if (input === undefined || (input.kind === 'change' && end > this.#next)) break
    }
    const entries = this.#entries.slice(begin, end) as Intake['entries']
    this.#next = end
    if (this.#next >= this.#entries.length || this.#next > 4_096) {
      this.#entries = this.#entries.slice(this.#next)
      this.#next = 0
    }
    return { change, entries }
  }

  putBack(entries: readonly Entry[]): void {
    this.#entries = [...entries, ...this.#entries.slice(this.#next)]
    this.#next = 0
  }

  drain(): Waiter[] {
    const waiters = this.#entries.slice(this.#next).flatMap(({ waiter }) => waiter ?? [])
    this.#entries = []
    this.#next = 0
    return waiters
  }
}
