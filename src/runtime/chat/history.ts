import { Message } from '../../protocol/message.ts'
import { schemaIssues } from '../../rules/text/schema-issues.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'

/** A message of an earlier conversation: a `Message`, whose content may be a text. */
export type HistoryMessage =
  | Message
  | { readonly role: 'user' | 'assistant' | 'system'; readonly content: string }
  | {
      readonly role: 'tool'
      readonly callId: string
      readonly name: string
      readonly content: string
      readonly isError?: boolean | undefined
    }

/**
 * Copies and checks an earlier conversation: each call is answered once, directly behind the message that made it, and an
 * assistant's message is last.
 *
 * @throws `invalid-history` with the index of the first message that is wrong
 */
export function readHistory(given: readonly HistoryMessage[]): Message[] {
  if (!Array.isArray(given)) {
    throw new EntiaError('invalid-history', `history must be a list of messages, got ${shortly(given)}.`)
  }
  const messages = Array.from(given, readMessage)
  checkCalls(messages)
  const last = messages.length - 1
  if (last >= 0 && messages[last]?.role !== 'assistant') {
    throw invalid(last, "is last and not the assistant's. Leave it out, and pass its text to turn()")
  }
  return messages
}

function readMessage(given: unknown, index: number): Message {
  const entry = given as { readonly content?: unknown }
  const isText = typeof entry === 'object' && entry !== null && typeof entry.content === 'string'
  const whole = isText ? { ...entry, content: [{ type: 'text', text: entry.content }] } : entry
  const { data, error } = Message().safeParse(whole)
  if (error === undefined) return data
  throw invalid(index, `is no message: ${schemaIssues(error)}`)
}

/** A message with calls that wait for their results. */
interface Asking {
  readonly index: number
  /** Ids of calls and their tools. */
  readonly open: Map<string, string>
}

function checkCalls(messages: readonly Message[]): void {
  let asking: Asking | undefined
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (asking?.open.delete(message.callId) === true) continue
      throw invalid(
        index,
        `is the result of the call '${message.callId}', and the message before it has no such open call`,
      )
    }
    refuseOpen(asking)
    asking = message.role === 'assistant' ? { index, open: callsOf(message, index) } : undefined
  }
  refuseOpen(asking)
}

function callsOf({ content }: Extract<Message, { readonly role: 'assistant' }>, index: number): Map<string, string> {
  const open = new Map<string, string>()
  for (const block of content) {
    if (block.type !== 'tool-call') continue
    if (open.has(block.id)) throw invalid(index, `has two calls with the id '${block.id}'`)
    open.set(block.id, block.name)
  }
  return open
}

function refuseOpen(asking: Asking | undefined): void {
  const [first] = asking?.open ?? []
  if (asking === undefined || first === undefined) return
  const [id, tool] = first
  throw invalid(asking.index, `has the call '${id}' of ${tool}, and its result does not follow`)
}

function invalid(index: number, what: string): EntiaError {
  return new EntiaError('invalid-history', `history[${index}] ${what}.`, { index })
}
