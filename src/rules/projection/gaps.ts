/** A range of `seq`s that a conversation no longer has: the first, and the one behind the last. */
export interface Gap {
  readonly from: number
  readonly to: number
  /** Messages missing in it and in those before it. */
  readonly missing: number
}

export type Range = Pick<Gap, 'from' | 'to'>

/** What is needed to know of an archived turn. */
export interface ArchivedTurn {
  readonly status: string
  readonly fromSeq: number
  readonly toSeq: number
}

/** The `seq` of the message at an index. */
export function seqIn(gaps: readonly Gap[], index: number): number {
  const before = lastIn(gaps, ({ to, missing }) => to - missing - 1 <= index)
  return index + 1 + (before?.missing ?? 0)
}

/** How many messages have a `seq` up to this one. */
export function countIn(gaps: readonly Gap[], seq: number): number {
  const gap = lastIn(gaps, ({ from }) => from <= seq)
  if (gap === undefined) return Math.max(0, seq)
  return seq - gap.missing + Math.max(0, gap.to - seq - 1)
}

/**
 * Binary search for the last gap with a property that all before it have. There may be thousands, and every turn asks.
 */
function lastIn(gaps: readonly Gap[], has: (gap: Gap) => boolean): Gap | undefined {
  if (gaps.length === 0) return undefined
  let [low, high] = [0, gaps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (has(gaps[middle] as Gap)) low = middle + 1
    else high = middle
  }
  return gaps[low - 1]
}

/** What archived turns have left out, ascending: all behind the opening message but the last. */
export function archivedRanges(entries: readonly ArchivedTurn[]): readonly Range[] {
  return entries
    .filter(({ status, fromSeq, toSeq }) => status === 'archived' && toSeq - fromSeq > 1)
    .map(({ fromSeq, toSeq }) => ({ from: fromSeq + 1, to: toSeq }))
    .toSorted((a, b) => a.from - b.from)
}

/** Adds ranges behind gaps. */
export function withRanges(gaps: Gap[], ranges: readonly Range[]): readonly Gap[] {
  let missing = gaps.at(-1)?.missing ?? 0
  for (const { from, to } of ranges) gaps.push({ from, to, missing: (missing += to - from) })
  return gaps
}

/** The gaps of what users took back, and of the turns archived outside of it. */
export function gapsOf(
  rewound: readonly { readonly fromSeq: number; readonly toSeq: number }[],
  entries: readonly ArchivedTurn[],
): readonly Gap[] {
  const parts = rewound.map(({ fromSeq, toSeq }) => ({ from: fromSeq, to: toSeq + 1 }))
  const archived = archivedRanges(entries).filter(
    (turn) => !parts.some(({ from, to }) => from <= turn.from && turn.to <= to),
  )
  return withRanges(
    [],
    [...parts, ...archived].toSorted((a, b) => a.from - b.from),
  )
}
