import { Archive } from '../../../components/context/archive.ts'
import { Rewound } from '../../../components/agent/rewound.ts'
import type { DataOf, DeepReadonly, Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { z } from 'zod'
import { AgentTranscript } from '../../../components/context/agent-transcript.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message } from '../../protocol/message.ts'

/** A range of `seq`s that the conversation no longer has: the first, and the one behind the last. */
interface Gap {
  readonly from: number
  readonly to: number
  /** Messages missing in it and in those before it. */
  readonly missing: number
}

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
  const gaps = gapsOf(world, agent)
  const before = lastIn(gaps, ({ to, missing }) => to - missing - 1 <= index)
  return index + 1 + (before?.missing ?? 0)
}

/** How many messages of an agent's conversation have a `seq` up to this one. */
export function countUpTo(world: World, agent: Entity, seq: number): number {
  const gaps = gapsOf(world, agent)
  const gap = lastIn(gaps, ({ from }) => from <= seq)
  if (gap === undefined) return Math.max(0, seq)
  return seq - gap.missing + Math.max(0, gap.to - seq - 1)
}

/**
 * Binary search for the last gap with a property that all before it have. There may be thousands, and every turn asks.
 */
function lastIn(gaps: readonly Gap[], has: (gap: Gap) => boolean): Gap | undefined {
  if (gaps.length === 0) return undefined
  let [low, high] = [0, gaps.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (has(gaps[middle] as Gap)) low = middle + 1
    else high = middle
  }
  return gaps[low - 1]
}

/** The gaps of archived turns and of what users took back, ascending. */
function gapsOf(world: World, agent: Entity): readonly Gap[] {
  const rewound = world.get(agent, Rewound)
  return rewound === undefined ? archivedGaps(world, agent) : gapsWith(rewound, world.get(agent, Archive) ?? noEntries)
}

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
  const parts = rewound.ranges.map(({ fromSeq, toSeq }) => ({ from: fromSeq, to: toSeq + 1 }))
  const archived = rangesOf(entries).filter((turn) => !parts.some(({ from, to }) => from <= turn.from && turn.to <= to))
  const gaps = withRanges(
    [],
    [...parts, ...archived].toSorted((a, b) => a.from - b.from),
  )
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
  const added = rangesOf(entries.slice(isKnown ? last.length : 0))
  const isBehind = (added[0]?.from ?? Infinity) > (before.at(-1)?.from ?? 0)
  const gaps = isBehind ? withRanges([...before], added) : withRanges([], rangesOf(entries))
  gapsKnown.set(entries, { last: entries.at(-1), length: entries.length, gaps })
  return gaps
}

type Entry = DeepReadonly<z.infer<(typeof Archive)['schema']>>
type Range = Pick<Gap, 'from' | 'to'>

function rangesOf(entries: readonly Entry[]): readonly Range[] {
  return entries
    .filter(({ status, fromSeq, toSeq }) => status === 'archived' && toSeq - fromSeq > 1)
    .map(({ fromSeq, toSeq }) => ({ from: fromSeq + 1, to: toSeq }))
    .toSorted((a, b) => a.from - b.from)
}

function withRanges(gaps: Gap[], ranges: readonly Range[]): readonly Gap[] {
  let missing = gaps.at(-1)?.missing ?? 0
  for (const { from, to } of ranges) gaps.push({ from, to, missing: (missing += to - from) })
  return gaps
}

/** A message's place among its agent's turns. */
export interface TurnPlace {
  /** From 1. */
  readonly turn: number
  /** Number of model messages in that turn so far, including this one. */
  readonly step: number
}

interface MessageInTurn extends TurnPlace {
  readonly message: Message
}

export interface PlacedMessage extends MessageInTurn {
  readonly seq: number
}

const nowhere: TurnPlace = { turn: 0, step: 0 }

/**
 * Places consecutive messages. A turn ends with an assistant message without calls; the next user message opens
 * another.
 * @param before the message in front of them, and its place
 */
export function inTurns(
  messages: readonly Message[],
  before?: { readonly message: Message | undefined; readonly place: TurnPlace },
): readonly MessageInTurn[] {
  let last = before?.message
  let place = before?.place ?? nowhere
  return messages.map((message) => {
    place = nextPlace(place, message, last)
    last = message
    return { ...place, message }
  })
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

function nextPlace({ turn, step }: TurnPlace, message: Message, before: Message | undefined): TurnPlace {
  const isSaid = message.role === 'user' || message.role === 'system'
  if (turn === 0 || (isSaid && endsTurn(before))) return { turn: turn + 1, step: stepsOf(message) }
  return { turn, step: step + stepsOf(message) }
}

/** Messages that the framework or a program wrote are no steps. */
function stepsOf(message: Message): number {
  return message.role === 'assistant' && message.model !== undefined ? 1 : 0
}

function endsTurn(message: Message | undefined): boolean {
  return message?.role === 'assistant' && message.content.every(({ type }) => type !== 'tool-call')
}
