import type { StandardEvents } from '../protocol/event.ts'
import {
  type Failure,
  type JsonObject,
  type Message,
  type SessionStatus,
  type Stop,
  textOf,
  type TokenUsage,
} from '../index.ts'
import { cutText } from '../base/cut-text.ts'

const maxNameChars = 60

/** Totals of a run over all its starts, with its sessions. */
export interface Totals {
  readonly modelCalls: number
  readonly toolCalls: number
  readonly sessions: number
  readonly usage: TokenUsage
  readonly durationMs: number
}

export interface OpenTool {
  readonly callId: string
  readonly tool: string
  readonly arguments: JsonObject
}

export interface AnsweredTool extends OpenTool {
  readonly isError: boolean
  readonly text: string
}

/** The lead, or the agent of a session, as it was when a run resumes. */
export interface FoundAgent {
  /** Events of this tick and earlier ones may have been emitted before the restart. */
  readonly tick: number
  readonly steps: number
  /** Answered ones; `steps` counts those in flight too. */
  readonly modelCalls: number
  readonly toolCalls: number
  readonly usage: TokenUsage
  /** Time at work; of a session since it got its slot. */
  readonly durationMs: number
  readonly open: readonly OpenTool[]
  readonly isAsleep: boolean
}

export interface FoundSession extends FoundAgent {
  /** Session ids from the outermost to its own. */
  readonly path: readonly string[]
  readonly name: string
  readonly status: SessionStatus
  /** It has ended, and now answers a further question. */
  readonly isAsked: boolean
  /** Its summary, or why there is none. */
  readonly note?: string | undefined
}

/** A run as it was when it resumes. */
export interface Before extends Totals {
  readonly lead: FoundAgent
  readonly tools: readonly AnsweredTool[]
  readonly tree: readonly FoundSession[]
  readonly isFinished: boolean
}

/** Events repeated after a kill have the same place; tick and index are those of the world at `path`. */
export interface Place extends Within {
  readonly tick: number
  readonly index: number
}

export interface Within {
  /** Session ids, outermost first. Absent: the lead's world. */
  readonly path?: readonly string[] | undefined
}

export const contextEventTypes = [
  'boundary-written',
  'checkpoint-failed',
  'compaction-failed',
  'compaction-ineffective',
  'cost-ceiling-neared',
  'cost-unknown',
  'small-model-unavailable',
  'summary-started',
  'turn-error',
  'watchdog-alerted',
] as const
type ContextEventType = (typeof contextEventTypes)[number]

interface Facts extends ContextFacts {
  'run-started': {
    readonly run: string
    readonly data: string
    readonly folder: string
    readonly question: string
    readonly places: readonly string[]
    readonly model: string
    /** Absent on the first start. */
    readonly before?: Before
  }
  'model-called': Place & { readonly step: number }
  /** Streamed, and may still be discarded. Of a tool call only the name. */
  'model-delta': Within & { readonly kind: 'text' | 'thinking' | 'tool-call'; readonly text: string }
  /** Discards what was streamed of this answer. */
  'model-discarded': Within
  'model-replied': Place & { readonly usage: TokenUsage }
  /** Without `waitMs` for a session: its world has its own time. */
  'retry-scheduled': Place & {
    readonly attempt: number
    readonly waitMs?: number | undefined
    readonly failure: Failure
  }
  'tool-called': Place & OpenTool
  'tool-progressed': Within & { readonly message: string; readonly fraction?: number | undefined }
  'tool-answered': Place & AnsweredTool
  /** The agent at `path` launched it. */
  'session-queued': Place & { readonly session: string; readonly name: string }
  /** It got a slot. */
  'session-started': Place & { readonly session: string; readonly name: string; readonly task: string }
  'session-ended': Place & {
    readonly session: string
    readonly status: SessionStatus
    /** Since it got its slot; absent: it never got one. */
    readonly durationMs?: number | undefined
    /** Its summary, or why there is none. */
    readonly note?: string | undefined
  }
  'query-answered': Place & { readonly session: string }
  warning: Within & { readonly message: string }
  'run-stopped': { readonly run: string; readonly resumeBy: string }
  /** The last event. */
  'run-ended': Totals & {
    readonly run: string
    readonly stop: Stop
    readonly answer: string
    readonly failure?: Failure
    readonly advice?: string
  }
}

type ContextFacts = { readonly [K in ContextEventType]: Place & StandardEvents[K] }

/** An event of a run; with `--json`, one line each. */
export type AskEvent = { [K in keyof Facts]: { readonly type: K } & Facts[K] }[keyof Facts]

export type AskEventOf<T extends AskEvent['type']> = Extract<AskEvent, { readonly type: T }>

export type ContextEvent = AskEventOf<ContextEventType>

export function isContextEvent(event: AskEvent): event is ContextEvent {
  return contextEventTypes.some((type) => type === event.type)
}

export interface View {
  tell(event: AskEvent): void
  /** Leaves the terminal in order. Idempotent. */
  close(): void
}

/** The display name of a session: the places it reads, or the beginning of its task. */
export function sessionName(task: string): string {
  const places = [...task.matchAll(/^Look only in: *(\S.*)$/gm)].at(-1)?.[1]
  const name = (places ?? task.trim().split('\n', 1)[0] ?? '').trim()
  return cutText(name, maxNameChars, '…')
}

/** Answered tool calls, oldest first. */
export function answeredTools(messages: readonly Message[]): AnsweredTool[] {
  const asked = new Map(askedTools(messages).map((call) => [call.callId, call]))
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return []
    const { callId, name: tool, isError = false } = message
    return [{ callId, tool, arguments: asked.get(callId)?.arguments ?? {}, isError, text: textOf(message) }]
  })
}

export function openTools(messages: readonly Message[]): OpenTool[] {
  const answered = new Set(messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : [])))
  return askedTools(messages).filter(({ callId }) => !answered.has(callId))
}

function askedTools(messages: readonly Message[]): OpenTool[] {
  return messages.flatMap((message) => {
    if (message.role !== 'assistant') return []
    const calls = message.content.filter((block) => block.type === 'tool-call')
    return calls.map(({ id, name, arguments: input }) => ({ callId: id, tool: name, arguments: input }))
  })
}
