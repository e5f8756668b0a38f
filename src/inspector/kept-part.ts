import type { StoredWorld } from '../stores/port.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Source } from './source.ts'
import { noSuchWorld } from './ticks.ts'

export interface KeptPart {
  readonly stored: StoredWorld
  /** The tick of its snapshot. */
  readonly oldest: number
}

/**
 * What is kept of a world from a tick to another: the nearest snapshot before the first, and the rows behind it. Where earlier ticks
 * are not kept any more, it begins at the oldest snapshot.
 * @throws `no-such-world`
 */
export async function keptPart(source: Source, world: string, from: number, to: number): Promise<KeptPart> {
  const stored = await read(source, world, from, to)
  if (stored === undefined) throw noSuchWorld(source, world)
  return { stored, oldest: stored.snapshot.tick }
}

async function read(source: Source, world: string, from: number, to: number): Promise<StoredWorld | undefined> {
  try {
    const stored = await source.read(world, { from, to })
    if (stored !== undefined || (await source.entry(world)) === undefined) return stored
  } catch (error) {
    if (!(error instanceof EntiaError) || error.code !== 'invalid-argument') throw error
    const { oldest } = error.details
    if (typeof oldest === 'number' && oldest <= to) return source.read(world, { from: oldest, to })
  }
  // Its newest ticks are always kept.
  const newest = await source.read(world)
  return newest && { snapshot: newest.snapshot, rows: newest.rows.filter(({ tick }) => tick <= to) }
}
