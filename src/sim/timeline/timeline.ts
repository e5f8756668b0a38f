import { factText, type TraceEntry } from '../trace-entry.ts'

export interface TimelineRow {
  readonly name: string
  readonly depth: number
  /** Its purpose, such as the task of a session. */
  note: string
  status: string
  lanes: number
}

/** `turn` and `waiting` lie behind the others. */
export type SpanKind = 'turn' | 'waiting' | 'queued' | 'model' | 'tool' | 'retry' | 'approval'
/** `lost`: the process died meanwhile. `open`: the run ended before it. */
export type SpanState = 'well' | 'failed' | 'cancelled' | 'lost' | 'open'

export interface TimelineSpan {
  readonly row: number
  readonly kind: SpanKind
  readonly fromMs: number
  toMs: number
  state: SpanState
  title: string
  readonly facts: string[]
  lane: number
}

/** An instant. Without a row it concerns all. */
export interface TimelineMark {
  readonly row: number | undefined
  readonly kind: 'fault' | 'crash' | 'user' | 'law'
  readonly atMs: number
  readonly title: string
  readonly facts: readonly string[]
}

export interface Timeline {
  readonly rows: readonly TimelineRow[]
  readonly spans: readonly TimelineSpan[]
  readonly marks: readonly TimelineMark[]
  readonly endMs: number
}

/** Most stacked bars; more overlap. */
const maxLanes = 12

/** Gives every span a lane that is free at the time. */
export function layOut(rows: readonly TimelineRow[], spans: readonly TimelineSpan[]): void {
  const lanes = rows.map((): TimelineSpan[] => [])
  for (const span of spans.toSorted((one, other) => one.fromMs - other.fromMs)) {
    const row = rows[span.row]
    const last = lanes[span.row]
    if (row === undefined || last === undefined || isBackground(span)) continue
    const free = last.findIndex(({ fromMs, toMs }) => toMs < span.fromMs || (toMs === span.fromMs && toMs > fromMs))
    span.lane = free === -1 ? Math.min(last.length, maxLanes - 1) : free
    last[span.lane] = span
    row.lanes = Math.max(row.lanes, span.lane + 1)
  }
}

function isBackground({ kind }: Pick<TimelineSpan, 'kind'>): boolean {
  return kind === 'turn' || kind === 'waiting'
}

/** The gaps of a turn, in which the agent waits. */
export function waitsIn(turn: TimelineSpan, spans: readonly TimelineSpan[]): TimelineSpan[] {
  const inside = spans
    .filter((span) => span.row === turn.row && !isBackground(span) && span.kind !== 'queued' && span.toMs > turn.fromMs)
    .toSorted((one, other) => one.fromMs - other.fromMs)
  const waits: TimelineSpan[] = []
  let untilMs = turn.fromMs
  const common = { row: turn.row, kind: 'waiting', state: 'well', title: 'waits', lane: 0 } as const
  const wait = (toMs: number): void => {
    if (toMs > untilMs) waits.push({ ...common, fromMs: untilMs, toMs, facts: [] })
  }
  for (const { fromMs, toMs } of inside) {
    wait(Math.min(fromMs, turn.toMs))
    untilMs = Math.max(untilMs, toMs)
  }
  wait(turn.toMs)
  return waits
}

export function inTreeOrder(labels: readonly string[]): string[] {
  const below = (parent: string): string[] =>
    labels.flatMap((label) => (parentOf(label) === parent ? [label, ...below(label)] : []))
  const roots = labels.filter((label) => !labels.includes(parentOf(label) ?? ''))
  return roots.flatMap((root) => [root, ...below(root)])
}

function parentOf(label: string): string | undefined {
  const end = label.lastIndexOf('/')
  return end === -1 ? undefined : label.slice(0, end)
}

export function rootOf(agents: ReadonlyMap<string, unknown>): string | undefined {
  return [...agents.keys()].find((label) => !label.includes('/'))
}

/** The labels of all worlds in a trace with their agents, in order. */
export function agentsOf(entries: readonly TraceEntry[]): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const { label, type, facts } of entries) {
    if (label === '-') continue
    const agents = found.get(label) ?? []
    found.set(label, agents)
    const { agent, sequence } = facts
    if (typeof agent !== 'number') continue
    if (!agents.includes(agent)) agents.push(agent)
    const child = `${label}/${agent}.${factText(sequence)}`
    if (type === 'session-queued' && !found.has(child)) found.set(child, [])
  }
  return found
}
