import { checkPolicyConfig } from '../../rules/policy/call.ts'
import { checkOptions } from '../../base/option-shapes.ts'
import type { ChatSession } from './chat-session.ts'
import { makeChat } from './make-chat.ts'
import { type NewSessionOptions, sessionShapes } from './session-options.ts'

/**
 * Makes a chat session. Reads no file, no environment and no network; `sessionSetup` does.
 *
 * @throws `invalid-argument`, `invalid-history`, `conflicting-provider`, `unknown-provider`, `config-invalid`
 */
export function newSession(options: NewSessionOptions = {}): ChatSession {
  checkOptions('newSession', options, sessionShapes)
  checkPolicyConfig('newSession: policy', options.policy)
  return makeChat(options)
}
