/** What calls have used, as far as it is known. */
interface Counts {
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly cacheWrite1h?: number | undefined
  readonly calls?: number | undefined
  readonly costNanoUsd?: number | undefined
  readonly estimated?: number | undefined
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly unpriced?: number | undefined
}

/**
 * Counts with others added to them, name by name, in a new object whose keys are in order. What is not known adds nothing,
 * and is not known if nothing is.
 */
export function withAdded<T extends Counts>(counts: T, more: { readonly [K in keyof T]?: number | undefined }): T {
  const add: Counts = more
  const sums: { -readonly [K in keyof Counts]: Counts[K] } = {}
  const cacheRead = added(counts.cacheRead, add.cacheRead)
  const cacheWrite = added(counts.cacheWrite, add.cacheWrite)
  const cacheWrite1h = added(counts.cacheWrite1h, add.cacheWrite1h)
  const calls = added(counts.calls, add.calls)
  const costNanoUsd = added(counts.costNanoUsd, add.costNanoUsd)
  const estimated = added(counts.estimated, add.estimated)
  const input = added(counts.input, add.input)
  const output = added(counts.output, add.output)
  const unpriced = added(counts.unpriced, add.unpriced)
  if (cacheRead !== undefined) sums.cacheRead = cacheRead
  if (cacheWrite !== undefined) sums.cacheWrite = cacheWrite
  if (cacheWrite1h !== undefined) sums.cacheWrite1h = cacheWrite1h
  if (calls !== undefined) sums.calls = calls
  if (costNanoUsd !== undefined) sums.costNanoUsd = costNanoUsd
  if (estimated !== undefined) sums.estimated = estimated
  if (input !== undefined) sums.input = input
  if (output !== undefined) sums.output = output
  if (unpriced !== undefined) sums.unpriced = unpriced
  return sums as T
}

/** What is not known adds nothing, and is not known if nothing is. */
export function added(before: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? before : (before ?? 0) + more
}
