import { AgentTranscript } from '../../../components/context/agent-transcript.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { Message } from '../../protocol/message.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { countUpTo, seqAt } from './places.ts'

/** Where a message stands among the turns of its agent. */
export interface TurnPlace {
  /** From 1. */
  readonly turn: number
  /** How many messages the model had written in that turn, this one included. */
  readonly step: number
}

/** A message and its place. */
interface MessageInTurn extends TurnPlace {
  readonly message: Message
}

/** The same, with its place in the conversation. */
export interface PlacedMessage extends MessageInTurn {
  readonly seq: number
}

const nowhere: TurnPlace = { turn: 0, step: 0 }

/**
 * Messages that stand one behind the other, with their places. They say it themselves: a turn is over with a message of the assistant
 * that calls nothing, and what is said to it behind that opens the next.
 *
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

/** The messages of an agent behind one `seq` and up to another, for its transcript. */
export function placedMessages(world: World, agent: Entity, afterSeq: number, toSeq: number): readonly PlacedMessage[] {
  const messages = world.get(agent, Conversation) ?? []
  const from = countUpTo(world, agent, afterSeq)
  const part = messages.slice(from, countUpTo(world, agent, toSeq))
  const before = { message: messages[from - 1], place: placeAt(world, agent, afterSeq) }
  return inTurns(part, before).map((placed, index) => ({ ...placed, seq: seqAt(world, agent, from + index) }))
}

/** Where a transcript was left is remembered with it. */
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

/** What the framework or a program wrote is no step. */
function stepsOf(message: Message): number {
  return message.role === 'assistant' && message.model !== undefined ? 1 : 0
}

function endsTurn(message: Message | undefined): boolean {
  return message?.role === 'assistant' && message.content.every(({ type }) => type !== 'tool-call')
}
