import { type Message, textOf } from '../../index.ts'
import { readQuestion } from '../question-prompt.ts'
import type { AnsweredCall } from './answered-calls.ts'
import type { FolderPart } from './folder-parts.ts'

/** A researcher as the lead's conversation tells of it. */
export interface Launched {
  readonly part: FolderPart
  /** Absent: it was refused. */
  readonly sessionId?: string | undefined
  /** Absent: the lead was not told of its end. */
  readonly ended?: 'succeeded' | 'failed' | 'cancelled' | undefined
  /** Why there is nothing of it. */
  readonly problem?: string | undefined
  readonly summary?: string | undefined
  /** `null`: too long to be given at once. */
  readonly result?: string | null | undefined
}

/** The researchers that were sent out, in order, with all that is known of each. */
export function launchedSessions(messages: Iterable<Message>, calls: readonly AnsweredCall[]): Launched[] {
  const ends = endsIn(messages)
  const results = calls.filter(({ name }) => name === 'subagent_result').map(resultOf)
  return calls
    .filter(({ name }) => name === 'subagent')
    .map(({ arguments: input, text }) => {
      const part = readQuestion(field(input, 'prompt') ?? '').places
      const sessionId = field(parsed(text), 'session_id')
      if (sessionId === undefined) return { part, problem: text }
      const own = results.filter((result) => result.sessionId === sessionId)
      const summary = own.find((result) => result.isSummary)
      const full = own.find((result) => !result.isSummary)
      return {
        part,
        sessionId,
        ...ends.get(sessionId),
        ...(summary !== undefined && { summary: summary.content ?? '' }),
        ...(full !== undefined && { result: full.content ?? null }),
      }
    })
}

type End = Pick<Launched, 'ended' | 'problem'>

/** What the lead was told when it woke: a line for each session that had ended. */
function endsIn(messages: Iterable<Message>): ReadonlyMap<string, End> {
  const ends = new Map<string, End>()
  for (const message of messages) {
    if (message.role !== 'system') continue
    for (const line of textOf(message).split('\n')) {
      const [, sessionId, how, problem] = /^- (\S+) (succeeded|failed|cancelled)(?:: (.*)\. Call |\.)/.exec(line) ?? []
      if (sessionId === undefined) continue
      ends.set(sessionId, { ended: how as Launched['ended'], ...(how !== 'succeeded' && { problem: problem ?? how }) })
    }
  }
  return ends
}

function resultOf({ arguments: input, text }: AnsweredCall) {
  const isSummary = input['read_method'] === 'summary'
  return { sessionId: field(input, 'session_id'), isSummary, content: field(parsed(text), 'inline_content') }
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

function field(data: object, name: string): string | undefined {
  const value: unknown = (data as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}
