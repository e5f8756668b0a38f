import { Archive } from '../../components/archive.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'

/** `seq`s of messages that stand in no conversation any more: of the first, and behind the last. */
interface Gap {
  readonly from: number
  readonly to: number
  /** How many are missing in it and in those before it. */
  readonly missing: number
}

/** Worked out once for a log as it is. A tick that is undone takes entries back, and others may come in their places. */
const known = new WeakMap<object, { readonly last: unknown; readonly length: number; readonly gaps: readonly Gap[] }>()
const none: readonly Gap[] = []

/**
 * The `seq` of the message at an index of an agent's conversation: 1 for the first, ascending, never reused. A turn that was
 * archived leaves a gap, and what stands behind it keeps its `seq`.
 */
export function seqAt(world: World, agent: Entity, index: number): number {
  let seq = index + 1
  for (const { from, to } of gapsOf(world, agent)) {
    if (seq < from) break
    seq += to - from
  }
  return seq
}

/** How many messages of an agent's conversation have a `seq` up to this one. */
export function countUpTo(world: World, agent: Entity, seq: number): number {
  let missing = 0
  for (const gap of gapsOf(world, agent)) {
    if (seq < gap.from) break
    missing = seq < gap.to ? gap.missing - (gap.to - seq - 1) : gap.missing
  }
  return Math.max(0, seq - missing)
}

/** Where archived turns left gaps, ascending. */
function gapsOf(world: World, agent: Entity): readonly Gap[] {
  const entries = world.get(agent, Archive)
  if (entries === undefined || entries.length === 0) return none
  const last = known.get(entries)
  if (last?.length === entries.length && last.last === entries.at(-1)) return last.gaps
  const ranges = entries
    .filter(({ status, fromSeq, toSeq }) => status === 'archived' && toSeq - fromSeq > 1)
    .map(({ fromSeq, toSeq }) => ({ from: fromSeq + 1, to: toSeq }))
    .toSorted((a, b) => a.from - b.from)
  let missing = 0
  const gaps = ranges.map(({ from, to }) => ({ from, to, missing: (missing += to - from) }))
  known.set(entries, { last: entries.at(-1), length: entries.length, gaps })
  return gaps
}
