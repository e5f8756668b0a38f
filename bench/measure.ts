/** The middle one; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]]
  if (low === undefined || high === undefined) throw new RangeError('There is no median of nothing.')
  return (low + high) / 2
}

/** Microseconds that this process has been computing so far, on all its threads: garbage collection and compiler too. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Microseconds of CPU that some work takes. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = cpuMicros()
  await work()
  return cpuMicros() - before
}

/** Milliseconds that some work takes by the clock on the wall. */
export async function wallOf(work: () => unknown): Promise<number> {
  const before = performance.now()
  await work()
  return performance.now() - before
}

/** Two works, measured in turns, so that what else the machine does meets both. */
export interface Pair {
  readonly measure: (work: () => unknown) => Promise<number>
  readonly rounds: number
  /** Rounds before, which do not count: what is compiled and cached by then is so for both. */
  readonly warmUp: number
  readonly work: () => unknown
  readonly against: () => unknown
}

/** What each round took. */
export interface Compared {
  readonly work: readonly number[]
  readonly against: readonly number[]
}

/** Measures two works in turns; who is first changes from round to round. */
export async function compare({ measure, rounds, warmUp, work, against }: Pair): Promise<Compared> {
  const taken: { work: number[]; against: number[] } = { work: [], against: [] }
  for (let round = -warmUp; round < rounds; round++) {
    const order = round % 2 === 0 ? (['against', 'work'] as const) : (['work', 'against'] as const)
    for (const who of order) {
      const took = await measure(who === 'work' ? work : against)
      if (round >= 0) taken[who].push(took)
    }
  }
  return taken
}

/** The median of what was more in a round. */
export function difference({ work, against }: Compared): number {
  return median(work.map((took, round) => took - (against[round] as number)))
}

/** The median of how many times as much it was in a round. */
export function ratio({ work, against }: Compared): number {
  return median(work.map((took, round) => took / (against[round] as number)))
}

/** Bytes that are alive on the heap and behind it, after everything else was collected. */
export function liveBytes(): number {
  if (globalThis.gc === undefined) throw new Error('Node was started without --expose-gc.')
  for (let pass = 0; pass < 3; pass++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
