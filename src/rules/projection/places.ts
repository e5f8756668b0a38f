import { Archive } from '../../../components/context/archive.ts'
import { Rewound } from '../../../components/agent/rewound.ts'
import type { DataOf, DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { z } from 'zod'
import { AgentTranscript } from '../../../components/context/agent-transcript.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { archivedRanges, countIn, type Gap, gapsOf, seqIn, withRanges } from './gaps.ts'
import { inTurns, type MessageInTurn, nowhere, type TurnPlace } from './turn-places.ts'

export { inTurns, type TurnPlace } from './turn-places.ts'

/** Computed once for a log's state. An undone tick removes entries, and others may take their places. */
const gapsKnown = new WeakMap<
  object,
  { readonly last: unknown; readonly length: number; readonly gaps: readonly Gap[] }
>()
const none: readonly Gap[] = []

/**
 * The `seq` of the message at an index of an agent's conversation: 1 for the first, ascending, never reused. An
 * archived turn leaves a gap, and messages behind it keep their `seq`.
 */
export function seqAt(world: World, agent: Entity, index: number): number {
  return seqIn(gapsIn(world, agent), index)
}

/** How many messages of an agent's conversation have a `seq` up to this one. */
export function countUpTo(world: World, agent: Entity, seq: number): number {
  return countIn(gapsIn(world, agent), seq)
}

/** The gaps of archived turns and of what users took back, ascending. */
function gapsIn(world: World, agent: Entity): readonly Gap[] {
  const rewound = world.get(agent, Rewound)
  return rewound === undefined ? archivedGaps(world, agent) : gapsWith(rewound, world.get(agent, Archive) ?? noEntries)
}

type Entry = DeepReadonly<z.infer<(typeof Archive)['schema']>>

const noEntries: readonly Entry[] = Object.freeze([])
const rewoundKnown = new WeakMap<
  object,
  { readonly entries: readonly Entry[]; readonly count: number; readonly last: unknown; readonly gaps: readonly Gap[] }
>()

/** With the parts that users took back, in which turns may have been archived. Few conversations have any. */
function gapsWith(
  rewound: DeepReadonly<DataOf<() => typeof Rewound.schema>>,
  entries: readonly Entry[],
): readonly Gap[] {
  const known = rewoundKnown.get(rewound)
  const [count, last] = [entries.length, entries.at(-1)]
  if (known?.entries === entries && known.count === count && known.last === last) return known.gaps
  const gaps = gapsOf(rewound.ranges, entries)
  rewoundKnown.set(rewound, { entries, count, last, gaps })
  return gaps
}

/** Mostly the newest turn is archived last, which extends the known ones. */
function archivedGaps(world: World, agent: Entity): readonly Gap[] {
  const entries = world.get(agent, Archive)
  if (entries === undefined || entries.length === 0) return none
  const last = gapsKnown.get(entries)
  const isKnown = last !== undefined && entries[last.length - 1] === last.last
  if (isKnown && last.length === entries.length) return last.gaps
  const before = isKnown ? last.gaps : none
  const added = archivedRanges(entries.slice(isKnown ? last.length : 0))
  const isBehind = (added[0]?.from ?? Infinity) > (before.at(-1)?.from ?? 0)
  const gaps = isBehind ? withRanges([...before], added) : withRanges([], archivedRanges(entries))
  gapsKnown.set(entries, { last: entries.at(-1), length: entries.length, gaps })
  return gaps
}

export interface PlacedMessage extends MessageInTurn {
  readonly seq: number
}

/** An agent's messages behind one `seq` and up to another, for its transcript. */
export function placedMessages(world: World, agent: Entity, afterSeq: number, toSeq: number): readonly PlacedMessage[] {
  const messages = world.get(agent, Conversation) ?? []
  const from = countUpTo(world, agent, afterSeq)
  const part = messages.slice(from, countUpTo(world, agent, toSeq))
  const before = { message: messages[from - 1], place: placeAt(world, agent, afterSeq) }
  return inTurns(part, before).map((placed, index) => ({ ...placed, seq: seqAt(world, agent, from + index) }))
}

/** The transcript remembers the place of its last message. */
function placeAt(world: World, agent: Entity, seq: number): TurnPlace {
  const known = world.get(agent, AgentTranscript)
  if (known?.place !== undefined && known.seq === seq) return known.place
  const messages = world.get(agent, Conversation) ?? []
  return inTurns(messages.slice(0, countUpTo(world, agent, seq))).at(-1) ?? nowhere
}
