import type { Delta } from '../../world/changes.ts'
import { openLines } from '../../world/joint.ts'
import type { TickRow } from './wire.ts'

/** When an approval was asked for. */
export interface AskedAt {
  readonly tick: number
  readonly nowMs: number
  readonly dateMs: number
}

interface Stored {
  readonly snapshot: { readonly lines: readonly string[] }
  readonly rows: readonly TickRow[]
}

/** The first tick behind a snapshot that names an approval. */
export function askedIn({ rows, snapshot }: Stored, approval: string): AskedAt | undefined {
  let { dateOffsetMs, nowMs } = openLines(snapshot.lines).head.header
  for (const { line, tick } of rows) {
    const { d } = JSON.parse(line.slice(line.indexOf(' ') + 1)) as { readonly d: Partial<Delta> }
    dateOffsetMs = d.dateOffsetMs ?? dateOffsetMs
    nowMs = d.nowMs ?? nowMs
    if (line.includes(approval)) return { tick, nowMs, dateMs: nowMs + dateOffsetMs }
  }
  return undefined
}
