import { type ClosedKind, closedKinds } from '../../rules/policy/closed-places.ts'

/** Counts what a tool leaves out, by kind, and says so to the model. */
export class LeftOut {
  readonly #counts: Record<ClosedKind, number> = { credential: 0, denied: 0, personal: 0 }

  add(kind: ClosedKind, count = 1): void {
    this.#counts[kind] += count
  }

  /** One of a kind that there is: `2 credential files skipped`. */
  notes(): readonly string[] {
    const counted = closedKinds.filter((kind) => this.#counts[kind] > 0)
    return counted.map((kind) => `${this.#counts[kind]} ${kind} ${kind === 'credential' ? 'files' : 'paths'} skipped`)
  }
}
