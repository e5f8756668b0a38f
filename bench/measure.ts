/** Two works to be measured in turns, so that whatever else the machine does meets both. */
export interface Pair {
  readonly rounds: number
  /** Rounds before, which do not count: what is compiled and cached by then is so for both. */
  readonly warmUp: number
  readonly work: () => unknown
  readonly against: () => unknown
}

/** What each round took of one thing. */
export interface Sides {
  readonly work: number[]
  readonly against: number[]
}

/** What two works took, round by round. */
export interface Compared {
  /** Microseconds of computing, on all threads of this process: garbage collector and compiler too. */
  readonly cpuMicros: Sides
  /** Milliseconds by the clock on the wall. */
  readonly wallMs: Sides
}

/** Measures two works in turns; who is first changes from round to round. */
export async function compare({ rounds, warmUp, work, against }: Pair): Promise<Compared> {
  const cpu: Sides = { work: [], against: [] }
  const wall: Sides = { work: [], against: [] }
  for (let round = -warmUp; round < rounds; round++) {
    const order = round % 2 === 0 ? (['against', 'work'] as const) : (['work', 'against'] as const)
    for (const side of order) {
      const wallBefore = performance.now()
      const cpuBefore = cpuMicros()
      await (side === 'work' ? work : against)()
      const cpuTaken = cpuMicros() - cpuBefore
      const wallTaken = performance.now() - wallBefore
      if (round < 0) continue
      cpu[side].push(cpuTaken)
      wall[side].push(wallTaken)
    }
  }
  return { cpuMicros: cpu, wallMs: wall }
}

/** Does some work so many times, one after the other. */
export async function times(count: number, work: () => unknown): Promise<void> {
  for (let done = 0; done < count; done++) await work()
}

/** The median of what was more in a round. */
export function difference({ work, against }: Sides): number {
  return median(work.map((taken, round) => taken - (against[round] as number)))
}

/** The median of how many times as much it was in a round. */
export function ratio({ work, against }: Sides): number {
  return median(work.map((taken, round) => taken / (against[round] as number)))
}

/** The value in the middle; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const low = sorted[Math.ceil(middle) - 1]
  const high = sorted[Math.floor(middle)]
  if (low === undefined || high === undefined) throw new RangeError('There is no median of nothing.')
  return (low + high) / 2
}

/** Microseconds that this process has been computing so far, on all its threads. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Bytes that are alive on the heap and outside of it, once everything else was collected. */
export function liveBytes(): number {
  if (globalThis.gc === undefined) throw new Error('Node has to be started with --expose-gc to weigh something.')
  for (let pass = 0; pass < 3; pass++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
