import type { Entity } from '../world/component.ts'
import type { JsonObject } from '../world/json.ts'
import type {
  ArchivePhase,
  ArchiveReason,
  BoundaryEntry,
  RewriteKind,
  SummaryResult,
  SummaryStatus,
} from './context.ts'
import type { Failure, Stop } from './failure.ts'
import type { FileBlock, TextBlock } from './message.ts'
import type { SessionKind, SessionStatus, SubtaskResult } from './delegation.ts'
import type { TokenUsage } from './usage.ts'

/** What the standard systems emit. Listeners get it after the tick's commit. */
export interface StandardEvents {
  /** An agent begins to work on what was said to it. */
  'turn-started': { readonly agent: Entity }
  'turn-ended': {
    readonly agent: Entity
    readonly stop: Stop
    readonly steps: number
    readonly toolCalls: number
    readonly failure?: Failure | undefined
  }
  /** A step begins; `messages`: how many its request has. */
  'model-called': { readonly agent: Entity; readonly effect: Entity; readonly step: number; readonly messages: number }
  /** `max-tokens`: the model was stopped at its output limit. */
  'model-replied': {
    readonly agent: Entity
    readonly effect: Entity
    readonly stop: 'end' | 'tool-calls' | 'max-tokens'
    readonly usage: TokenUsage
  }
  'model-failed': { readonly agent: Entity; readonly effect: Entity; readonly failure: Failure }
  'retry-scheduled': {
    readonly agent: Entity
    readonly effect: Entity
    /** The try to come. */
    readonly attempt: number
    readonly atMs: number
    readonly failure: Failure
  }
  'tool-called': {
    readonly agent: Entity
    readonly effect: Entity
    readonly callId: string
    readonly tool: string
    readonly arguments: JsonObject
  }
  /** The result stands in the conversation. */
  'tool-answered': {
    readonly agent: Entity
    readonly callId: string
    readonly tool: string
    readonly isError: boolean
    /** What the model reads of it. */
    readonly result: readonly (TextBlock | FileBlock)[]
  }
  /**
   * The Host that opened the world declares a tool differently or lacks it, or the program has given the agent a tool.
   * `kept`: the agent keeps its declaration, and calls of a missing tool fail.
   */
  'tool-changed': {
    readonly agent: Entity
    readonly tool: string
    readonly change: 'added' | 'changed' | 'removed'
    readonly kept?: true
  }
  'approval-requested': {
    readonly agent: Entity
    readonly approval: string
    readonly tool: string
    readonly arguments: JsonObject
  }
  'approval-answered': {
    readonly agent: Entity
    readonly approval: string
    readonly tool: string
    readonly approved: boolean
    readonly reason?: string | undefined
  }
  /** A message or cancel that could not be delivered. */
  'input-refused': { readonly kind: string; readonly agent: Entity; readonly reason: string }
  /** An outcome, admission, answer or timer for something that is settled or gone. Counted by the Runner. */
  'input-dropped': { readonly kind: string; readonly effect?: Entity | undefined; readonly reason: string }
  /** The next request does not begin with the last one: the provider's prompt cache is lost from there on. */
  'prefix-broken': { readonly agent: Entity; readonly component: string }
  /** The provider has read fewer tokens from its cache than it had there, though the prefix holds: the rest was paid again. */
  'cache-missed': { readonly agent: Entity; readonly cached: number; readonly read: number }
  /** A session was launched. */
  'session-queued': {
    readonly agent: Entity
    readonly session: Entity
    readonly sessionId: string
    readonly sequence: number
    readonly correlationId: string
  }
  /**
   * An agent that is no session has used 90 % of the sessions that it may launch in all its life, as set by
   * `DelegationLimits`: once for each limit. A higher one is set with `runner.change`.
   */
  'session-limit-neared': {
    readonly agent: Entity
    readonly limit: number
    /** Launched by it and by those below it, or granted to those that run. */
    readonly used: number
  }
  /** A session has a slot and begins. */
  'delegation-started': DelegationFacts
  /** A session that had begun has ended. */
  'delegation-completed': DelegationFacts & {
    readonly lifecycleStatus: SessionStatus
    readonly success: boolean
    /** From admission. */
    readonly durationMs: number
    /** `null` over 8192 bytes, and where there is none. */
    readonly result: string | null
    readonly error: string | null
    readonly artifactId: string | null
  }
  /** A session has ended, whether it had begun or not. */
  'session-ended': {
    readonly agent: Entity
    readonly session: Entity
    readonly sessionId: string
    readonly lifecycleStatus: SessionStatus
  }
  /** A query has its reply, or has failed. */
  'query-answered': { readonly agent: Entity; readonly sessionId: string; readonly query: string }
  /** What a cancel has stopped in this world; descendants emit their own. */
  'work-cancelled': {
    readonly agent: Entity
    /** As they were before. */
    readonly sessions: readonly { readonly sessionId: string; readonly lifecycleStatus: SessionStatus }[]
    readonly effects: readonly StoppedEffect[]
  }
  /** The agent of a session has come to its end. */
  'session-settled': { readonly agent: Entity; readonly success: boolean }
  /** The agent of a session only waits, or goes on. */
  'slot-released': { readonly agent: Entity }
  /** The final answer did not follow its schema, or was empty; the model is asked once more. */
  'output-rejected': { readonly agent: Entity; readonly problem: string }
  /** A subtask was asked for. */
  'subtask-started': {
    readonly agent: Entity
    readonly model: string
    readonly name: string
    readonly subtaskId: string
  }
  /** A subtask has ended, or was called off with its agent, which is then absent. */
  'subtask-ended': {
    readonly agent?: Entity | undefined
    /** Of the program that waits for it. */
    readonly request?: string | undefined
    readonly result: SubtaskResult
    readonly subtaskId: string
  }
  /** The provider does not have the model that subtasks would have by default: the agent's own takes its place. */
  'small-model-unavailable': { readonly agent: Entity; readonly model: string; readonly message: string }
  /** A text is being written that is to take the place of a part of the conversation; the next step waits for it. */
  'summary-started': {
    readonly agent: Entity
    readonly effect: Entity
    readonly kind: BoundaryEntry['kind']
    readonly by: BoundaryEntry['by']
  }
  /** Up to the message of that `seq` a text stands for what was said. */
  'boundary-written': {
    readonly agent: Entity
    readonly kind: BoundaryEntry['kind']
    readonly by: BoundaryEntry['by']
    readonly seq: number
    /** Characters of the text. */
    readonly chars: number
    readonly truncated: boolean
    readonly missingHeadings: readonly string[]
    readonly usage: TokenUsage
    readonly costUsd?: number | undefined
  }
  /** The result of a compaction or checkpoint that programs have requested. */
  'summary-answered': {
    readonly agent: Entity
    readonly requests: readonly string[]
    readonly result: SummaryResult
  }
  /** The conversation stays as it is. */
  'compaction-failed': {
    readonly agent: Entity
    readonly by: BoundaryEntry['by']
    readonly failure: Failure
    /** In a row, of automatic ones. */
    readonly failures: number
  }
  /** The first call behind a compaction was as full again that another one would be due. */
  'compaction-ineffective': {
    readonly agent: Entity
    readonly fullness: number
    readonly threshold: number
    readonly failures: number
  }
  /** The record of a task could not be written; it is not tried again. */
  'checkpoint-failed': {
    readonly agent: Entity
    readonly by: BoundaryEntry['by']
    readonly failure: Failure
    readonly note?: string | undefined
  }
  /** The first call after a rewrite of the projection shows its cost and saving. What is not known is absent. */
  'context-rewritten': {
    readonly agent: Entity
    readonly kind: RewriteKind
    /** Prompt tokens of the last own call before it, and of the first one behind it. */
    readonly tokensBefore?: number | undefined
    readonly tokensAfter?: number | undefined
    /** Tokens that the provider had in its cache. */
    readonly cachedTokensLost?: number | undefined
    /** Of the calls that wrote what stands there now. */
    readonly costUsd?: number | undefined
  }
  /** A turn was ended, or refused, by what bounds it. */
  'turn-error': {
    readonly agent: Entity
    readonly kind: 'cost_ceiling' | 'watchdog' | 'cost_unknown' | 'context-overflow'
    readonly retryable: false
    readonly message: string
    /** A message to the stopped agent was refused. */
    readonly refused?: true
    readonly failure?: Failure | undefined
  }
  /** A call begins that may pass a ceiling: the first of a turn, and of a bound. */
  'cost-ceiling-neared': {
    readonly agent: Entity
    readonly bound: 'turn' | 'session'
    readonly limitUsd: number
    /** What is in flight may cost so much at most, this call included. */
    readonly reservedUsd: number
    readonly spentUsd: number
  }
  /** A model without a price is called under a ceiling. Once a model. */
  'cost-unknown': { readonly agent: Entity; readonly model: string }
  /** A signal of the watchdog has noticed a pattern in an agent's tool calls. */
  'watchdog-alerted': {
    readonly agent: Entity
    readonly signal: string
    readonly severity: 'warning' | 'critical'
    readonly message: string
    /** Of the call that tripped it. */
    readonly tool: string
    readonly callId: string
  }
  /** A turn stays where it is, though it might have been archived. */
  'archive-skipped': { readonly agent: Entity; readonly reason: string }
  /** A holder has the turn from now on. */
  'turn-archived': {
    readonly agent: Entity
    readonly subagentId: string
    readonly reason: ArchiveReason
    readonly summary: SummaryStatus
    readonly fromSeq: number
    readonly toSeq: number
  }
  /** A turn could not be archived, and stays whole. */
  'archive-failed': {
    readonly agent: Entity
    readonly subagentId: string
    readonly phase: ArchivePhase
    readonly failure: Failure
  }
  /** What is left of a holder that could not be made. */
  'archive-cleanup-failed': {
    readonly subagentId: string
    readonly left: readonly ('world' | 'transcript')[]
    readonly message: string
  }
  warning: { readonly agent?: Entity | undefined; readonly message: string }
}

/** What identifies a delegation, at its start and at its end. */
export type DelegationFacts = {
  readonly sessionId: string
  readonly correlationId: string
  readonly parent: Entity
  readonly category: string
  readonly kind: SessionKind
  readonly mode: 'sync' | 'background'
  /** The session's prompt. */
  readonly task: string
  /** Sessions above the parent, and one. */
  readonly depth: number
}

/** An effect that was under way when it was stopped, and what is known of it. */
export type StoppedEffect = {
  readonly effect: Entity
  readonly kind: string
  /** Of a tool call. */
  readonly tool?: string | undefined
  /** `unknown`: it had begun, and may have happened. */
  readonly fate: 'not-begun' | 'aborted' | 'unknown'
}

/** The types of these events. */
export const standardEventTypes = Object.keys({
  'turn-started': true,
  'turn-ended': true,
  'model-called': true,
  'model-replied': true,
  'model-failed': true,
  'retry-scheduled': true,
  'tool-called': true,
  'tool-answered': true,
  'approval-requested': true,
  'approval-answered': true,
  'input-refused': true,
  'input-dropped': true,
  'prefix-broken': true,
  'cache-missed': true,
  'session-queued': true,
  'delegation-started': true,
  'delegation-completed': true,
  'session-ended': true,
  'query-answered': true,
  'work-cancelled': true,
  'session-settled': true,
  'slot-released': true,
  'output-rejected': true,
  'subtask-started': true,
  'subtask-ended': true,
  'small-model-unavailable': true,
  'summary-started': true,
  'boundary-written': true,
  'summary-answered': true,
  'compaction-failed': true,
  'compaction-ineffective': true,
  'checkpoint-failed': true,
  'context-rewritten': true,
  'turn-error': true,
  'cost-ceiling-neared': true,
  'cost-unknown': true,
  'watchdog-alerted': true,
  'archive-skipped': true,
  'turn-archived': true,
  'archive-failed': true,
  'archive-cleanup-failed': true,
  warning: true,
  'tool-changed': true,
  'session-limit-neared': true,
} satisfies Record<keyof StandardEvents, true>)

export type StandardEvent = {
  [K in keyof StandardEvents]: { readonly type: K } & StandardEvents[K]
}[keyof StandardEvents]
