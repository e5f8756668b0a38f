/** What workers ask of one another: which providers they call no more for a while. News of it, and of who has come, is for all. */
export class Pauses {
  readonly #date: () => number
  /** Until when no worker calls a provider, in milliseconds since 1970. */
  readonly #untilMs = new Map<string, number>()
  readonly #hearers = new Set<() => void>()

  constructor(date: () => number) {
    this.#date = date
  }

  async begin(provider: string, forMs: number): Promise<void> {
    this.#untilMs.set(provider, Math.max(this.#date() + forMs, this.#untilMs.get(provider) ?? 0))
    this.tell()
  }

  /** For how many milliseconds more, by provider. */
  get left(): ReadonlyMap<string, number> {
    const nowMs = this.#date()
    return new Map([...this.#untilMs].flatMap(([name, ms]) => (ms > nowMs ? [[name, ms - nowMs] as const] : [])))
  }

  hear(hear: () => void): () => void {
    this.#hearers.add(hear)
    return () => this.#hearers.delete(hear)
  }

  tell(): void {
    for (const hear of this.#hearers) hear()
  }
}
