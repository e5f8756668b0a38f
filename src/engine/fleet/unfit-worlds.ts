import { thrownMessage } from '../../base/thrown-message.ts'
import { EntiaError, type EntiaErrorCode } from '../../base/entia-error.ts'
import type { Clock } from '../loop/clock.ts'

export interface UnfitWorldsParts {
  readonly clock: Clock
  /** A world cannot be driven here now. */
  readonly unfit?: ((world: string, code: EntiaErrorCode | undefined, message: string) => void) | undefined
  /** No worker could drive a world for `unfitForMs`. */
  readonly report: (event: UnfitEvent) => void
}

interface UnfitEvent {
  readonly type: 'world-unfit'
  readonly world: string
  readonly forMs: number
  readonly code?: EntiaErrorCode
  readonly message: string
}

interface Unfit {
  readonly untilMs: number
  readonly waitMs: number
  readonly isReported: boolean
}

/** What no worker could drive for so long is reported. */
const unfitForMs = 60_000
/** How long a world is left alone that could not be driven; twice as long after each further time. */
const firstRetryMs = 1_000
const longestRetryMs = 60_000

/** Worlds that a worker could not drive, until when it leaves them alone. */
export class UnfitWorlds {
  readonly #parts: UnfitWorldsParts
  readonly #worlds = new Map<string, Unfit>()

  constructor(parts: UnfitWorldsParts) {
    this.#parts = parts
  }

  /** Those that are left alone now. */
  get now(): readonly string[] {
    const nowMs = this.#parts.clock.now()
    // Others drive them by now, or they would have come here again.
    for (const [key, { untilMs }] of this.#worlds) if (untilMs + longestRetryMs < nowMs) this.#worlds.delete(key)
    return [...this.#worlds].flatMap(([key, { untilMs }]) => (nowMs < untilMs ? key : []))
  }

  /** Returns for how many milliseconds it is left alone. */
  add(key: string, world: string, error: unknown): number {
    const { clock, unfit } = this.#parts
    const { isReported = false, waitMs = firstRetryMs } = this.#worlds.get(key) ?? {}
    const untilMs = clock.now() + waitMs
    this.#worlds.set(key, { untilMs, waitMs: Math.min(2 * waitMs, longestRetryMs), isReported })
    unfit?.(world, codeOf(error), thrownMessage(error))
    return waitMs
  }

  /** It was driven. */
  delete(key: string): void {
    this.#worlds.delete(key)
  }

  /** Says once of a world that no worker can drive it. @param forMs for so long none could */
  report(key: string, world: string, error: unknown, forMs = 0): void {
    const known = this.#worlds.get(key)
    if (known === undefined || known.isReported || forMs < unfitForMs) return
    this.#worlds.set(key, { ...known, isReported: true })
    const code = codeOf(error)
    const message = thrownMessage(error)
    this.#parts.report({ type: 'world-unfit', world, forMs, ...(code !== undefined && { code }), message })
  }
}

function codeOf(error: unknown): EntiaErrorCode | undefined {
  return error instanceof EntiaError ? error.code : undefined
}
