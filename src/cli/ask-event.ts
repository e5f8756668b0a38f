import type { Failure, JsonObject, Stop, TokenUsage } from '../index.ts'

/** What a run has used, over all its starts. */
export interface Totals {
  readonly modelCalls: number
  readonly toolCalls: number
  readonly usage: TokenUsage
  /** Time in which it was driven. */
  readonly durationMs: number
}

/** A tool call and what came of it. */
export interface AnsweredTool {
  readonly callId: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly isError: boolean
  readonly text: string
}

/** A run as it was found. */
export interface Before extends Totals {
  /** What stands at this tick or an earlier one was told before, if that process had the time. */
  readonly tick: number
  readonly step: number
  readonly tools: readonly AnsweredTool[]
  readonly isFinished: boolean
}

/** Where an event stands in the run: what is told twice, because a process was killed, has the same place. */
export interface Place {
  readonly tick: number
  readonly index: number
}

interface Facts {
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
  'model-delta': { readonly kind: 'text' | 'thinking' | 'tool-call'; readonly text: string }
  /** What was streamed of this answer counts no more. */
  'model-discarded': object
  'model-replied': Place & { readonly usage: TokenUsage }
  'retry-scheduled': Place & { readonly attempt: number; readonly waitMs: number; readonly failure: Failure }
  'tool-called': Place & Pick<AnsweredTool, 'callId' | 'tool' | 'arguments'>
  'tool-progressed': { readonly message: string; readonly fraction?: number | undefined }
  'tool-answered': Place & AnsweredTool
  /** Something to know that stops nothing. */
  warning: { readonly message: string }
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

/** What people and programs are told of a run; with `--json`, a line each. */
export type AskEvent = { [K in keyof Facts]: { readonly type: K } & Facts[K] }[keyof Facts]

/** Shows a run. */
export interface View {
  tell(event: AskEvent): void
  /** Leaves the terminal in order. Idempotent. */
  close(): void
}
