import type { Message } from '../../protocol/message.ts'

/** A message's place among its agent's turns. */
export interface TurnPlace {
  /** From 1. */
  readonly turn: number
  /** Number of model messages in that turn so far, including this one. */
  readonly step: number
}

export interface MessageInTurn extends TurnPlace {
  readonly message: Message
}

export const nowhere: TurnPlace = { turn: 0, step: 0 }

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
