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
import { cutText } from '../rules/text/cut-text.ts'

const maxNameChars = 60

/** What a run has used, over all its starts, its sessions included. */
export interface Totals {
  readonly modelCalls: number
  readonly toolCalls: number
  /** Sessions that were launched. */
  readonly sessions: number
  readonly usage: TokenUsage
  /** Time in which it was driven. */
  readonly durationMs: number
}

/** A tool call. */
export interface OpenTool {
  readonly callId: string
  readonly tool: string
  readonly arguments: JsonObject
}

/** A tool call and its result. */
export interface AnsweredTool extends OpenTool {
  readonly isError: boolean
  readonly text: string
}

/** The lead, or the agent of a session, as it was found. */
export interface FoundAgent {
  /** Events of this tick and earlier ones may have been emitted before the restart. */
  readonly tick: number
  /** Model calls that were begun. */
  readonly steps: number
  /** Model calls that were answered. */
  readonly modelCalls: number
  readonly toolCalls: number
  readonly usage: TokenUsage
  /** Time in which it was at work: of a session since it had its slot. */
  readonly durationMs: number
  /** Tool calls under way. */
  readonly open: readonly OpenTool[]
  /** It waits for its sessions. */
  readonly isAsleep: boolean
}

/** A session as it was found. */
export interface FoundSession extends FoundAgent {
  /** The sessions above and its own, outermost first. */
  readonly path: readonly string[]
  readonly name: string
  readonly status: SessionStatus
  /** It has ended, and works on a further question. */
  readonly isAsked: boolean
  /** Its summary, or why there is none. */
  readonly note?: string | undefined
}

/** A run as it was found. */
export interface Before extends Totals {
  readonly lead: FoundAgent
  /** The lead's answered calls. */
  readonly tools: readonly AnsweredTool[]
  readonly tree: readonly FoundSession[]
  readonly isFinished: boolean
}

/**
 * Where an event stands in the run. One that is repeated after a kill has the same place. Tick and index
 * are those of the world that the path leads to.
 */
export interface Place extends Within {
  readonly tick: number
  readonly index: number
}

/** In whose world it happens. */
export interface Within {
  /** Ids of sessions, outermost first. Absent: the lead's. */
  readonly path?: readonly string[] | undefined
}

/** Events about context and cost that are passed on unchanged. */
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
    /** Where runs are kept. */
    readonly data: string
    readonly folder: string
    readonly question: string
    readonly places: readonly string[]
    readonly model: string
    /** What was done before this start, if it is not the first. */
    readonly before?: Before
  }
  'model-called': Place & { readonly step: number }
  /** As it comes, before anything is sure. Of a tool call the name alone. */
  'model-delta': Within & { readonly kind: 'text' | 'thinking' | 'tool-call'; readonly text: string }
  /** What was streamed of this answer counts no more. */
  'model-discarded': Within
  'model-replied': Place & { readonly usage: TokenUsage }
  /** Of a session the wait is not known: its world has a time of its own. */
  'retry-scheduled': Place & {
    readonly attempt: number
    readonly waitMs?: number | undefined
    readonly failure: Failure
  }
  'tool-called': Place & OpenTool
  'tool-progressed': Within & { readonly message: string; readonly fraction?: number | undefined }
  'tool-answered': Place & AnsweredTool
  /** The agent at `path` launched a session. `name`: for display. */
  'session-queued': Place & { readonly session: string; readonly name: string }
  /** It has a slot and begins. */
  'session-started': Place & { readonly session: string; readonly name: string; readonly task: string }
  'session-ended': Place & {
    readonly session: string
    readonly status: SessionStatus
    /** Since it had its slot; absent: it never had. */
    readonly durationMs?: number | undefined
    /** Its summary, or why there is none. */
    readonly note?: string | undefined
  }
  /** An ended session has answered a further question. */
  'query-answered': Place & { readonly session: string }
  /** Something to know that stops nothing. */
  warning: Within & { readonly message: string }
  /** The process was asked to end. */
  'run-stopped': { readonly run: string; readonly resumeBy: string }
  /** The last of all. */
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

/** Those of a type. */
export type AskEventOf<T extends AskEvent['type']> = Extract<AskEvent, { readonly type: T }>

/** An event about context or cost. */
export type ContextEvent = AskEventOf<ContextEventType>

export function isContextEvent(event: AskEvent): event is ContextEvent {
  return contextEventTypes.some((type) => type === event.type)
}

/** Shows a run. */
export interface View {
  tell(event: AskEvent): void
  /** Leaves the terminal in order. Idempotent. */
  close(): void
}

/** The display name of a session: the places it looks into, or the beginning of its task. */
export function sessionName(task: string): string {
  const places = [...task.matchAll(/^Look only in: *(\S.*)$/gm)].at(-1)?.[1]
  const name = (places ?? task.trim().split('\n', 1)[0] ?? '').trim()
  return cutText(name, maxNameChars, '…')
}

/** The tool calls of a conversation that are answered, oldest first. */
export function answeredTools(messages: readonly Message[]): AnsweredTool[] {
  const asked = new Map(askedTools(messages).map((call) => [call.callId, call]))
  return messages.flatMap((message) => {
    if (message.role !== 'tool') return []
    const { callId, name: tool, isError = false } = message
    return [{ callId, tool, arguments: asked.get(callId)?.arguments ?? {}, isError, text: textOf(message) }]
  })
}

/** Those that are not. */
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
