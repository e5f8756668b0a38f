import type { Message } from '../../protocol/message.ts'
import type { SummaryStatus } from '../../protocol/context.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import type { TranscriptLine } from '../../stores/port.ts'
import { messageText } from './render-transcript.ts'
import type { PlacedMessage } from '../projection/places.ts'

const version = 1

/** A transcript's first line. Times are Unix time in milliseconds. */
export interface SessionLine {
  readonly key: string
  readonly createdAt: number
  /** `provider/model`. */
  readonly model: string
  /** Of a session: its parent. */
  readonly parent?: string
  readonly task?: string
  /** Sessions above it, plus one. */
  readonly depth?: number
}

export function sessionLine(session: SessionLine): TranscriptLine {
  const { key, createdAt, model, ...rest } = session
  return { text: JSON.stringify({ type: 'session', version, key, createdAt, model, ...rest }) }
}

/** A whole message, searchable by its words. */
export function messageLine({ message, seq, step, turn }: PlacedMessage, at: number): TranscriptLine {
  const { role, content, ...rest } = message
  return {
    text: JSON.stringify({ type: 'message', seq, at, turn, step, role, content, ...rest }),
    searchable: messageText(message),
  }
}

/** The message of a transcript line; `undefined` for another line. */
export function messageOf(line: string): { readonly seq: number; readonly message: Message } | undefined {
  type Line = { readonly type: string; readonly at: number } & PlacedMessage & Message
  const { type, seq, at: _, turn: __, step: ___, ...message } = JSON.parse(line) as Line
  return type === 'message' ? { seq, message } : undefined
}

/** The summary of a turn that a holder keeps. */
export interface SummaryLine {
  readonly style: 'structured' | 'paragraph'
  readonly status: SummaryStatus
  readonly truncated: boolean
  readonly text: string
  readonly model: string
  readonly usage: TokenUsage
  /** `null`: no price is known. */
  readonly costUsd: number | null
  readonly at: number
}

export function summaryLine({
  style,
  status,
  truncated,
  text,
  model,
  usage,
  costUsd,
  at,
}: SummaryLine): TranscriptLine {
  return { text: JSON.stringify({ type: 'summary', style, status, truncated, text, model, usage, costUsd, at }) }
}

/** A turn whose messages a holder has from now on. */
export interface RewriteLine {
  readonly subagentId: string
  readonly fromSeq: number
  readonly toSeq: number
  readonly at: number
}

export function rewriteLine({ subagentId, fromSeq, toSeq, at }: RewriteLine): TranscriptLine {
  const text = `[archived: ${subagentId}]`
  return { text: JSON.stringify({ type: 'rewrite', text, id: subagentId, fromSeq, toSeq, at }) }
}
