import type { StoredWorld } from '../stores/port.ts'
import { type AskedAt, askedIn } from './reading/asked-in.ts'
import type { Source } from './source.ts'

/** How many snapshots back it looks. */
const maxSnapshots = 40

/** Finds the tick that asked for an approval; `undefined`: it is older than what is kept. */
export async function askedAt(source: Source, world: string, approval: string): Promise<AskedAt | undefined> {
  let from: number | undefined
  for (let looked = 0; looked < maxSnapshots; looked++) {
    const stored: StoredWorld | undefined = await source.read(world, from === undefined ? {} : { from, to: from + 1 })
    if (stored === undefined) return undefined
    const { lines, tick } = stored.snapshot
    if (!lines.some((line) => line.includes(approval))) return askedIn(stored, approval)
    if (tick === 0) return undefined
    from = tick - 1
  }
  return undefined
}
