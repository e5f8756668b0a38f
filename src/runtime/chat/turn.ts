import type { UserMessage } from '../../protocol/message.ts'
import { objectWith, refuseMisfit } from '../../base/option-shapes.ts'
import type { ChatSession, TurnResult } from './chat-session.ts'
import type { Observer } from './observers.ts'
import type { TurnOptions } from './turn-options.ts'

/**
 * Says something to a chat session and waits for the end of the turn that answers it. A turn that fails, is stopped or is
 * cancelled says so by `stop`.
 *
 * @throws by its promise: `empty-prompt`, `turn-in-progress`, `session-closed`, `invalid-argument`, and what the Runner fails with
 */
export async function turn(
  prompt: string | UserMessage,
  session: ChatSession,
  options: TurnOptions = {},
): Promise<TurnResult> {
  refuseMisfit('turn', 'session', session, sessionShape)
  return session.turn(prompt, options)
}

/**
 * Calls a function for each tool call of a chat session once it has its result and that is committed. Observers are called in
 * the order in which they were added, and are not awaited; what they throw changes nothing. Returns a function that removes it.
 */
export function addObserver(session: ChatSession, observer: Observer): () => void {
  refuseMisfit('addObserver', 'session', session, sessionShape)
  return session.addObserver(observer)
}

const sessionShape = objectWith('a chat session, as newSession() and sessionSetup() make', 'turn', 'addObserver')
