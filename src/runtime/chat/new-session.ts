import type { ChatSession } from './chat-session.ts'
import { makeChat } from './make-chat.ts'
import { checkSessionOptions, type NewSessionOptions } from './session-options.ts'

/**
 * Makes a chat session. Reads no file, no environment and no network; `sessionSetup` does.
 *
 * @throws `invalid-argument`, `invalid-history`, `conflicting-provider`, `unknown-provider`, `config-invalid`
 */
export function newSession(options: NewSessionOptions = {}): ChatSession {
  checkSessionOptions('newSession', options)
  return makeChat(options)
}
