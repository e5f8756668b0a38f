/** Whether a simulated process lives. `dying`: it writes nothing any more, and what it began goes on to its end. */
export type ProcessState = 'alive' | 'dying' | 'dead'

/** A promise that nobody settles: what a dead process would have gone on with. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined)
}
