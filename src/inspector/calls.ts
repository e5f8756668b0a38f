import { readHead } from '../world/restore.ts'
import { turns } from './in-turns.ts'
import { keptPart } from './kept-part.ts'
import { CallsInRows } from './reading/calls-in-rows.ts'
import type { CallsReply } from './reading/wire.ts'
import type { Source } from './source.ts'

/** What one reply looks through. */
const maxCallTicks = 20_000

/** The model calls of a world in a range of ticks, and how its conversations changed. @throws `no-such-world` */
export async function callsOf(source: Source, world: string, from: number, to: number): Promise<CallsReply> {
  const newest = (await source.entry(world))?.tick ?? 0
  const last = Math.min(to, newest)
  const first = Math.max(from, last - maxCallTicks + 1, 0)
  const { oldest, stored } = await keptPart(source, world, first, last)
  const found = new CallsInRows(readHead(stored.snapshot.lines[1] ?? '').header.nowMs)
  const turn = turns()
  for (const { line, tick } of stored.rows) {
    found.read(tick, line, tick >= first)
    await turn()
  }
  return { ...found.all, from: Math.max(first, oldest + 1), to: last }
}
