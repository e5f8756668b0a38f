import type { Message } from '../../../protocol/message.ts'
import { gapsOf, seqIn } from '../../../rules/projection/gaps.ts'
import { inTurns } from '../../../rules/projection/turn-places.ts'
import type { RawWorld } from '../../../world/raw-world.ts'
import { read, type StandardValue } from '../../reading/raw-view.ts'
import type { CallEntry, LogEditEntry } from '../../reading/wire.ts'
import { type KnownCalls, placesOf } from './calls.ts'

type AssistantMessage = Extract<Message, { role: 'assistant' }>
export type ToolMessage = Extract<Message, { role: 'tool' }>
export type ToolCallBlock = Extract<AssistantMessage['content'][number], { type: 'tool-call' }>

/** A message where a person reads it. Results of tools lie in the message that called them. */
export interface MessageItem {
  readonly kind: 'message'
  readonly key: string
  readonly index: number
  readonly seq: number
  readonly message: Message
  readonly turn: number
  readonly step: number
  /** It opens its turn. */
  readonly isFirst: boolean
  /** A boundary has taken its place in requests. */
  readonly isCompacted: boolean
  /** When it came; absent: earlier than what is known. */
  readonly came: LogEditEntry | undefined
  /** The model call that it answers. */
  readonly call: CallEntry | undefined
  readonly results: ReadonlyMap<string, ResultItem>
}

export interface ResultItem {
  readonly index: number
  readonly seq: number
  readonly message: ToolMessage
  readonly came: LogEditEntry | undefined
}

/** Where messages were, and are not any more or are not sent any more. */
export interface MarkItem {
  readonly kind: 'compacted' | 'archived' | 'rewound'
  readonly key: string
  readonly fromSeq: number
  readonly toSeq: number
  readonly count: number
  readonly boundary?: NonNullable<StandardValue<'Boundary'>>[number]
  readonly archive?: NonNullable<StandardValue<'Archive'>>[number]
}

export type ConversationItem = MessageItem | MarkItem

/** A conversation as of the tick that a world stands at. */
export function conversationOf(
  world: RawWorld,
  agent: number,
  calls: KnownCalls | undefined,
): readonly ConversationItem[] {
  const messages = read(world, agent, 'Conversation') ?? []
  const archive = (read(world, agent, 'Archive') ?? []).filter(({ status }) => status === 'archived')
  const rewound = read(world, agent, 'Rewound')?.ranges ?? []
  const gaps = gapsOf(rewound, archive)
  const boundaries = read(world, agent, 'Boundary') ?? []
  const covered = boundaries.at(-1)?.seq ?? 0
  const places = placesOf(calls?.edits ?? [], agent, { count: messages.length, tick: world.tick })
  const callOf = callsByAnswer(calls?.calls ?? [], agent)
  const items: ConversationItem[] = []
  const open = new Map<string, Map<string, ResultItem>>()
  let before = 0
  let turnBefore = 0
  inTurns(messages).forEach(({ message, step, turn }, index) => {
    const seq = seqIn(gaps, index)
    items.push(...marksBetween(before, seq, rewound))
    before = seq
    const came = places[index]
    const isOwn = message.role === 'tool' && open.get(message.callId)
    if (isOwn && message.role === 'tool') isOwn.set(message.callId, { index, seq, message, came })
    else {
      const results = new Map<string, ResultItem>()
      if (message.role === 'assistant') {
        for (const block of message.content) if (block.type === 'tool-call') open.set(block.id, results)
      }
      items.push({
        kind: 'message',
        key: `${agent}/${seq}`,
        index,
        seq,
        message,
        turn,
        step,
        isFirst: turn !== turnBefore,
        isCompacted: seq <= covered,
        came,
        call: message.role === 'assistant' && came !== undefined ? callOf.get(came.tick) : undefined,
        results,
      })
      turnBefore = turn
    }
    items.push(...marksBehind(agent, seq, archive, boundaries))
  })
  return items
}

type Archived = NonNullable<StandardValue<'Archive'>>
type Boundaries = NonNullable<StandardValue<'Boundary'>>

/** Where a turn was archived, or a boundary covers all up to here. */
function marksBehind(agent: number, seq: number, archive: Archived, boundaries: Boundaries): readonly MarkItem[] {
  const marks: MarkItem[] = []
  const turn = archive.find(({ toSeq }) => toSeq === seq)
  if (turn !== undefined) {
    const { fromSeq, toSeq } = turn
    const part = { fromSeq: fromSeq + 1, toSeq, count: toSeq - fromSeq }
    marks.push({ kind: 'archived', key: `archived/${agent}/${seq}`, ...part, archive: turn })
  }
  boundaries.forEach((boundary, at) => {
    if (boundary.seq !== seq) return
    const fromSeq = (boundaries[at - 1]?.seq ?? 0) + 1
    const part = { fromSeq, toSeq: seq, count: seq - fromSeq + 1 }
    marks.push({ kind: 'compacted', key: `compacted/${agent}/${at}`, ...part, boundary })
  })
  return marks
}

function marksBetween(
  before: number,
  seq: number,
  rewound: readonly { readonly fromSeq: number; readonly toSeq: number }[],
): readonly MarkItem[] {
  return rewound
    .filter(({ fromSeq, toSeq }) => fromSeq > before && toSeq < seq)
    .map(({ fromSeq, toSeq }) => ({
      kind: 'rewound',
      key: `rewound/${fromSeq}`,
      fromSeq,
      toSeq,
      count: toSeq - fromSeq + 1,
    }))
}

/** A reply comes in the tick that ended its call. */
function callsByAnswer(calls: readonly CallEntry[], agent: number): ReadonlyMap<number, CallEntry> {
  const own = calls.filter((call) => call.agent === agent && call.purpose === undefined && call.endTick !== undefined)
  return new Map(own.map((call) => [call.endTick ?? 0, call]))
}

/** What happens to a tool call that has no result yet. */
export function openCallState(
  world: RawWorld,
  agent: number,
  callId: string,
): { state: string; words: string } | undefined {
  for (const entity of world.referrers('OwnedBy', agent)) {
    if (read(world, entity, 'ToolCall')?.callId !== callId) continue
    if (world.value(entity, 'AwaitingApproval') !== undefined) return { state: 'approval', words: 'waits for approval' }
    if (world.value(entity, 'AwaitingSession') !== undefined) return { state: 'sessions', words: 'waits for a session' }
    if (world.value(entity, 'Due') !== undefined) return { state: 'retry', words: 'waits for its next try' }
    if (world.value(entity, 'Reported') !== undefined)
      return { state: 'slot', words: 'has ended, behind one that runs' }
    if (world.value(entity, 'Effect') !== undefined) return { state: 'tool', words: 'runs' }
    return { state: 'slot', words: 'is to be run' }
  }
  return undefined
}

/** The message of a line of a transcript; `undefined` for another line. */
export function transcriptMessage(line: string): { readonly seq: number; readonly message: Message } | undefined {
  try {
    const {
      at: _,
      seq,
      step: __,
      turn: ___,
      type,
      ...message
    } = JSON.parse(line) as {
      readonly type: string
      readonly seq: number
      readonly at: number
      readonly turn: number
      readonly step: number
    } & Message
    return type === 'message' ? { seq, message: message as Message } : undefined
  } catch {
    return undefined
  }
}

/** All text of a message, to be searched. */
export function textOf({ message, results }: MessageItem): string {
  const said: readonly Message[] = [message, ...Array.from(results.values(), (result) => result.message)]
  return said
    .flatMap(({ content }): readonly Message['content'][number][] => content)
    .map((block) => {
      if (block.type === 'text' || block.type === 'thinking') return block.text
      return block.type === 'tool-call' ? `${block.name} ${JSON.stringify(block.arguments)}` : ''
    })
    .join('\n')
    .toLowerCase()
}
