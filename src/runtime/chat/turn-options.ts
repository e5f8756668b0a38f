import type { UserMessage } from '../../protocol/message.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'
import type { ShapesOf } from '../../base/option-shapes.ts'
import type { ToolSource } from './chat-tools.ts'

/** Options of `turn`. */
export interface TurnOptions {
  /** Handlers of tools, such as an MCP server, that replace those of the chat session for this turn. */
  readonly toolSource?: ToolSource | undefined
  /** Tools that replace those of the chat session for this turn; beside a `toolSource`, both. */
  readonly tools?: readonly Tool[] | undefined
  /** Cancels the turn when it aborts. */
  readonly signal?: AbortSignal | undefined
}

export const turnShapes: ShapesOf<TurnOptions> = {
  toolSource: { wanted: 'a tool source, { declarations, call }', fits: (value) => typeof value === 'object' },
  tools: { wanted: 'a list of tools', fits: Array.isArray },
  signal: { wanted: 'an AbortSignal', fits: (value) => value instanceof AbortSignal },
}

/** @throws `empty-prompt`, `invalid-argument` */
export function refuseBlank(prompt: unknown): void {
  const isMessage =
    typeof prompt === 'object' && prompt !== null && 'content' in prompt && Array.isArray(prompt.content)
  if (typeof prompt !== 'string' && !isMessage) {
    throw new EntiaError('invalid-argument', `turn: prompt must be a text or a user's message, got ${shortly(prompt)}.`)
  }
  const blocks = typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : (prompt as UserMessage).content
  const isBlank = blocks.every((block: unknown) => {
    const { text, type } = Object(block) as { readonly text?: unknown; readonly type?: unknown }
    return type === 'text' && typeof text === 'string' && text.trim() === ''
  })
  if (isBlank) throw new EntiaError('empty-prompt', 'turn: the prompt is empty. Pass a text with something to answer.')
}
