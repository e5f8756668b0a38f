/** What tells whether a run goes on. */
export interface Standstill {
  /** Another number whenever something has gone on. */
  readonly progress: () => number
  /** Called when nothing has for so long. */
  readonly stands: () => void
}

/** Watches, in real time, that a run goes on. Gives a function that ends the watch. */
export function watchStandstill({ progress, stands }: Standstill, maxStallMs: number): () => void {
  let before = progress()
  const timer = setInterval(() => {
    const now = progress()
    if (now === before) stands()
    before = now
  }, maxStallMs)
  return () => clearInterval(timer)
}
