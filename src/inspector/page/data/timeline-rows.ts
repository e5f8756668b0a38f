import type { Span, SpanKind } from '../../reading/spans.ts'
import type { WorldEntry } from '../../reading/wire.ts'
import { dateAheadMs, type KnownSpans, spansOf } from './spans.ts'
import { treeRows } from './tree.ts'

/** A bar, in the world time of the root. */
export interface Bar {
  readonly span: Span
  readonly from: number
  /** `Infinity`: it goes on. */
  readonly to: number
  /** It stands for so many, which overlap. */
  readonly count: number
}

/** From its first slot to its end, as the world that launched it knows it. */
export interface Life {
  readonly name: string
  readonly task: string | undefined
  readonly from: number
  readonly to: number
  readonly isFailed: boolean
}

export interface TimelineRow {
  readonly world: string
  readonly level: number
  readonly children: number
  readonly isFolded: boolean
  readonly title: string
  readonly life: Life | undefined
  /** Bars of a lane do not overlap, and ascend. */
  readonly lanes: readonly (readonly Bar[])[]
  /** All of them, ascending. */
  readonly bars: readonly Bar[]
  readonly known: KnownSpans | undefined
  readonly top: number
  readonly height: number
}

export interface TimelineRows {
  readonly rows: readonly TimelineRow[]
  readonly height: number
  /** From the first bar to now. */
  readonly from: number
  readonly to: number
}

export const laneHeight = 16
const rowPadding = 7
const minRowHeight = 36
/** What an agent does itself lies above what it waits for. */
const foreground: ReadonlySet<SpanKind> = new Set(['model', 'tool', 'approval', 'retry'])
const maxLanes = { foreground: 8, background: 3 }

/** Turns world times of one world into those of the root. */
export type Clock = (ms: number) => number

/** World time stands still while no one drives a world, so that Unix time is what two worlds have in common. */
export function clockOf({ clock }: Pick<KnownSpans, 'clock'>, root: Pick<KnownSpans, 'clock'> | undefined): Clock {
  if (root === undefined || root.clock === clock || clock.length === 0) return (ms) => ms
  return (ms) => {
    const [, offset] = clock.findLast(([fromMs]) => fromMs <= ms) ?? clock[0] ?? [0, 0]
    const dateMs = ms + offset
    const [, rootOffset] = root.clock.findLast(([fromMs, own]) => fromMs + own <= dateMs) ?? root.clock[0] ?? [0, 0]
    return dateMs - rootOffset
  }
}

interface Laid {
  readonly known: KnownSpans
  readonly rootClock: KnownSpans['clock'] | undefined
  readonly lanes: readonly (readonly Bar[])[]
  readonly bars: readonly Bar[]
  readonly sessions: readonly Bar[]
  readonly now: number
}

const laidOut = new Map<string, Laid>()

/** The worlds of a tree as rows: each below the one that launched it, in the order in which they began. */
export function timelineRows(
  root: string,
  all: ReadonlyMap<string, WorldEntry>,
  folded: ReadonlySet<string>,
): TimelineRows {
  const entries = [...all.values()].filter((entry) => entry.name === root || entry.root === root)
  const rootKnown = spansOf.get(root)
  const laid = new Map(entries.map(({ name }) => [name, layOut(name, rootKnown, all)]))
  const lives = livesIn(laid)
  const began = ({ name }: WorldEntry) => lives.get(name)?.from ?? laid.get(name)?.bars[0]?.from ?? Infinity
  const starts = new Map(entries.map((entry) => [entry.name, entry.name === root ? -Infinity : began(entry)]))
  entries.sort((one, other) => compare(starts.get(one.name), starts.get(other.name)))
  const tree = treeRows(new Map(entries.map((entry) => [entry.name, entry])), folded, (entry) =>
    entry.name === root ? undefined : (entry.parent ?? spansOf.get(entry.name)?.path.at(-2) ?? root),
  )
  let top = 0
  const rows = tree.map(({ children, entry: { name: world }, isFolded, level }): TimelineRow => {
    const { bars = [], lanes = [] } = laid.get(world) ?? {}
    const height = Math.max(minRowHeight, lanes.length * laneHeight + 2 * rowPadding - 1)
    const life = lives.get(world)
    const row = { world, level, children, isFolded, life, lanes, bars, known: spansOf.get(world), top, height }
    top += height
    return { ...row, title: life?.name ?? world }
  })
  const times = [...laid.values()].filter((one) => one !== undefined)
  const from = times.reduce((least, { bars, now }) => Math.min(least, bars[0]?.from ?? now), Infinity)
  const to = times.reduce((most, { now }) => Math.max(most, now), nowOf(rootKnown))
  return { rows, height: top, from: Math.min(from, to), to: Math.max(to, from + minMs(rows)) }
}

/** Where nothing has happened yet, a second is shown. */
function minMs(rows: readonly TimelineRow[]): number {
  return rows.some(({ bars }) => bars.length > 0) ? 1 : 1_000
}

/** Time goes on while a world only waits, and has no tick that would say so. */
function nowOf(root: KnownSpans | undefined): number {
  const [, offsetMs] = root?.clock.at(-1) ?? [0, undefined]
  const isOver = root === undefined || [...root.spans.values()].every(({ toMs }) => toMs !== undefined)
  if (isOver || dateAheadMs === undefined || offsetMs === undefined) return -Infinity
  return performance.now() + dateAheadMs - offsetMs
}

function compare(one = 0, other = 0): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** Laid out again only where something has changed. */
function layOut(world: string, root: KnownSpans | undefined, all: ReadonlyMap<string, WorldEntry>): Laid | undefined {
  const known = spansOf.get(world)
  if (known === undefined) return undefined
  const before = laidOut.get(world)
  if (before !== undefined && before.known === known && before.rootClock === root?.clock) return before
  const clock = clockOf(known, root)
  const bars = [...known.spans.values()].map((span): Bar => {
    const to = span.toMs === undefined ? Infinity : clock(span.toMs)
    return { span, from: clock(span.fromMs), to, count: 1 }
  })
  bars.sort((one, other) => one.from - other.from || one.span.tick - other.span.tick)
  // What a session does stands in its own row, where it has one.
  const shown = bars.filter(({ span }) => span.session === undefined || !all.has(span.session))
  const { back = [], front = [] } = Object.groupBy(shown, ({ span }) => (foreground.has(span.kind) ? 'front' : 'back'))
  const lanes = [...lanesOf(front, maxLanes.foreground), ...lanesOf(back, maxLanes.background)]
  const sessions = bars.filter(({ span }) => span.session !== undefined)
  const laid = { known, rootClock: root?.clock, lanes, bars: shown, sessions, now: clock(known.nowMs) }
  laidOut.set(world, laid)
  return laid
}

/** Each bar in the first lane that is free; in the last one they are put together. */
function lanesOf(bars: readonly Bar[], max: number): readonly (readonly Bar[])[] {
  const lanes: Bar[][] = []
  for (const bar of bars) {
    const free = lanes.find((lane) => (lane.at(-1) as Bar).to <= bar.from)
    const last = lanes.at(-1)
    if (free !== undefined) free.push(bar)
    else if (lanes.length < max || last === undefined) lanes.push([bar])
    else {
      const crowd = last.pop() as Bar
      last.push({ ...crowd, to: Math.max(crowd.to, bar.to), count: crowd.count + 1 })
    }
  }
  return lanes
}

function livesIn(laid: ReadonlyMap<string, Laid | undefined>): ReadonlyMap<string, Life> {
  const lives = new Map<string, Life>()
  for (const one of laid.values()) {
    for (const { from, span, to } of one?.sessions ?? []) {
      const { isFailed = false, kind, name, session = '', task } = span
      const before = lives.get(session)
      if (kind === 'session' || before === undefined)
        lives.set(session, { name, task, from: before?.from ?? from, to, isFailed })
    }
  }
  return lives
}

/** The newest tick that is known of a world at an instant. */
export function tickAt({ bars, known }: TimelineRow, at: number): number {
  let tick = known?.fromTick ?? 0
  for (const { from, span, to } of bars) {
    if (from > at) break
    tick = Math.max(tick, span.tick, to <= at ? (span.endTick ?? 0) : 0)
  }
  return tick
}

/** The first of ascending bars that ends at an instant or later. */
export function firstFrom(bars: readonly Bar[], at: number): number {
  let low = 0
  let high = bars.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((bars[middle] as Bar).to < at) low = middle + 1
    else high = middle
  }
  return low
}

/** The row at a height. */
export function rowAt(rows: readonly TimelineRow[], y: number): number {
  let low = 0
  let high = rows.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((rows[middle] as TimelineRow).top <= y) low = middle
    else high = middle - 1
  }
  return low
}

/** Where a row's lane begins, below its top. */
export function laneTop(row: TimelineRow, lane: number): number {
  return (row.height - row.lanes.length * laneHeight) / 2 + lane * laneHeight
}
