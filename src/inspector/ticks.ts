import type { JournalRow } from '../stores/port.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { MarksReply, TicksQuery, TicksReply } from './reading/wire.ts'
import { marksInLine } from './reading/marks.ts'
import type { Source } from './source.ts'

/** What one reply takes of a journal, at most. */
export const maxRowsPerReply = 5_000
const maxCharsPerReply = 16_000_000
const maxMarkedTicks = 20_000

/** The rows of a range of ticks; with a snapshot, those behind the nearest one. @throws `no-such-world`, `invalid-argument` */
export async function ticksOf(source: Source, query: TicksQuery): Promise<TicksReply> {
  const { from, snapshot: isSnapshotWanted = false, to, world } = query
  const entry = await source.entry(world)
  if (entry === undefined) throw noSuchWorld(source, world)
  const newest = entry.tick ?? 0
  // A page that has all ticks asks for the next one.
  const farthest = isSnapshotWanted ? newest : newest + 1
  if (from !== undefined && from > farthest && entry.tick !== undefined) {
    const what = `World '${world}' has no tick ${from}: its newest is ${newest}`
    throw new EntiaError('invalid-argument', `${what}. Go to an earlier tick.`, { world, tick: from })
  }
  if (!isSnapshotWanted && from !== undefined) {
    const after = Math.max(0, from - 1)
    const rows = await source.rows(world, after, Math.min(to ?? Infinity, after + maxRowsPerReply + 1))
    if (rows !== undefined) return { ...cut(rows), newest: Math.max(newest, rows.at(-1)?.tick ?? 0) }
  }
  // What is behind `from` comes along as far as one reply takes: the next ticks are likely to be wanted.
  const range = from === undefined ? {} : { from, ...(to !== undefined && { to: Math.max(from, to) }) }
  const stored = await source.read(world, range)
  if (stored === undefined) throw noSuchWorld(source, world)
  const last = stored.rows.at(-1)?.tick ?? stored.snapshot.tick
  return { snapshot: stored.snapshot, ...cut(stored.rows), newest: Math.max(newest, last) }
}

export function noSuchWorld({ title }: Source, world: string): EntiaError {
  return new EntiaError('no-such-world', `There is no world '${world}' in ${title}. Choose another one.`, { world })
}

function cut(rows: readonly JournalRow[]): Pick<TicksReply, 'rows' | 'isCut'> {
  let chars = 0
  let count = 0
  while (count < rows.length && count < maxRowsPerReply) {
    chars += (rows[count] as JournalRow).line.length
    if (chars > maxCharsPerReply && count > 0) break
    count++
  }
  return { rows: rows.slice(0, count), isCut: count < rows.length }
}

/** Those that are still there, where the first ones are not. */
async function keptRows(source: Source, world: string, from: number, to: number): Promise<readonly JournalRow[]> {
  const stored = await source.read(world, { from, to }).catch(() => source.read(world))
  return stored?.rows ?? []
}

/** What a person looks for in a range of ticks. */
export async function marksIn(source: Source, world: string, from: number, to: number): Promise<MarksReply> {
  const last = Math.min(to, from + maxMarkedTicks - 1)
  const rows = (await source.rows(world, Math.max(0, from - 1), last)) ?? (await keptRows(source, world, from, last))
  const marks = rows.flatMap(({ line, tick }) => (tick < from || tick > last ? [] : marksInLine(tick, line)))
  return { marks, from, to: last }
}
