import { openSnapshot } from '../../engine/loop/stored-ticks.ts'
import type { Batch, StoredWorld } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Joint } from '../../world/joint.ts'
import { RawWorld } from '../../world/raw-world.ts'
import { LinesHash } from '../../base/sha256.ts'
import type { SnapshotEnd } from '../../world/snapshot.ts'
import { version } from '../../base/version.ts'
import { rawComponents } from '../reading/raw-view.ts'
import type { Source } from '../source.ts'
import { noSuchWorld } from '../ticks.ts'

/** A world as of a tick, to be written under another name. */
export interface CopiedWorld {
  /** What it is a copy of. */
  readonly of: string
  readonly name: string
  readonly tick: number
  readonly world: RawWorld
}

/** A world and those below it, as they were when it had a tick. The copy itself comes first. */
export interface CopiedTree {
  readonly worlds: readonly CopiedWorld[]
  /** New ids by those that they replace: of the worlds below, everywhere that they are named. */
  readonly renamed: ReadonlyMap<string, string>
}

/**
 * Copies a world as of a tick, with the worlds below it as they were at that time. @throws `no-such-world`, `invalid-argument` for a
 * tick that is not kept, and what reading throws
 */
export async function copiedTree(source: Source, from: string, tick: number, name: string): Promise<CopiedTree> {
  const world = await rawWorldAt(source, from, tick)
  if (world === undefined) throw noSuchWorld(source, from)
  const found: CopiedWorld[] = [{ of: from, name, tick, world }]
  const renamed = new Map<string, string>()
  const entries = await source.worlds()
  const root = entries.find((entry) => entry.name === from)?.root ?? from
  const candidates = new Set(entries.flatMap((entry) => (entry.root === root && entry.name !== from ? entry.name : [])))
  // A world belongs to the copy if one that does names it.
  for (const { world: above } of found) {
    const text = above.snapshot().join('\n')
    for (const below of candidates) {
      if (!text.includes(below)) continue
      candidates.delete(below)
      const child = await worldAtDate(source, below, world.dateMs)
      if (child === undefined) continue
      const id = newId(below)
      renamed.set(below, id)
      found.push({ of: below, name: id, tick: child.tick, world: child })
    }
  }
  return { worlds: found, renamed }
}

/** What a store is given of a copy. */
export function firstBatch({ name, world }: CopiedWorld, renamed: ReadonlyMap<string, string>): Batch {
  const content = world
    .snapshot(name)
    .slice(0, -1)
    .map((line) => withNewIds(line, renamed))
  const hash = new LinesHash()
  for (const line of content) hash.add(line)
  const end: SnapshotEnd = { end: { lines: content.length, sha256: hash.end() } }
  const joint: Joint = { chain: end.end.sha256, events: [], version }
  const isBusy = world.entitiesWith('Effect').length > 0 || world.inbox.length > 0
  return {
    isBusy,
    snapshot: { tick: world.tick, lines: [JSON.stringify(joint), ...content, JSON.stringify(end)] },
  }
}

/** Ids are made of letters, digits and dashes, so that they stand in JSON as they are. */
export function withNewIds(text: string, renamed: ReadonlyMap<string, string>): string {
  let now = text
  for (const [before, after] of renamed) now = now.replaceAll(before, after)
  return now
}

/** A world as of a tick, without schemas. */
export async function rawWorldAt(source: Source, name: string, tick: number): Promise<RawWorld | undefined> {
  const stored = await source.read(name, { from: tick, to: tick })
  if (stored === undefined) return undefined
  const world = walked(source, name, stored, () => true)
  if (world.tick === tick) return world
  const what = `World '${name}' has no tick ${tick}: its newest is ${world.tick}`
  throw new EntiaError('invalid-argument', `${what}. Choose an earlier tick.`, { world: name, tick })
}

/** A world as of its last tick up to a date; `undefined`: it began later, or what it was then is not kept. */
async function worldAtDate(source: Source, name: string, dateMs: number): Promise<RawWorld | undefined> {
  let stored: StoredWorld | undefined
  try {
    stored = await source.read(name, { from: 0 })
  } catch {
    stored = await source.read(name).catch(() => undefined)
  }
  if (stored === undefined) return undefined
  const world = walked(source, name, stored, (date) => date <= dateMs)
  return world.dateMs <= dateMs ? world : undefined
}

function walked(source: Source, name: string, stored: StoredWorld, isWanted: (dateMs: number) => boolean): RawWorld {
  const { codec, lines } = openSnapshot(stored)
  const world = RawWorld.restore(lines, rawComponents(source.components))
  for (const { line, tick } of stored.rows) {
    const { delta } = codec.decode(line, `world '${name}', tick ${tick}`)
    if (!isWanted(delta.nowMs + delta.dateOffsetMs)) break
    world.forward(delta)
  }
  return world
}

/** Of the same form as the id that it stands for. */
function newId(id: string): string {
  const hex = crypto.randomUUID().replaceAll('-', '').slice(0, 16)
  return /-[0-9a-f]{16}$/.test(id) ? `${id.slice(0, -16)}${hex}` : `${id}-${hex}`
}
