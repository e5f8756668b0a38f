import type { Entity } from '../world/component.ts'
import type { JsonObject } from '../base/json.ts'
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
import type { DataClass, Decision, Operation, Reach } from './policy.ts'
import type { SessionKind, SessionStatus, SubtaskResult } from './delegation.ts'
import type { TokenUsage } from './usage.ts'

/** Emitted by the standard systems after the tick's commit. */
export interface StandardEvents {
  /** An agent begins to work on a message. */
  'turn-started': { readonly agent: Entity }
  'turn-ended': {
    readonly agent: Entity
    readonly stop: Stop
    readonly steps: number
    readonly toolCalls: number
    readonly failure?: Failure | undefined
  }
  /** A user went back: the messages from one `seq` to another, both included, are no part of the conversation any more. */
  rewound: { readonly agent: Entity; readonly fromSeq: number; readonly toSeq: number; readonly messages: number }
  /** A user stopped the step under way; the turn goes on with the next message. */
  'step-stopped': { readonly agent: Entity }
  /** `messages`: of the request. */
  'model-called': { readonly agent: Entity; readonly effect: Entity; readonly step: number; readonly messages: number }
  /** `max-tokens`: stopped at the output limit. */
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
    /** The next try. */
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
  /** In the tick in which the call ends; the conversation gets the results in call order. */
  'tool-answered': {
    readonly agent: Entity
    readonly callId: string
    readonly tool: string
    readonly isError: boolean
    /** As the model reads it. */
    readonly result: readonly (TextBlock | FileBlock)[]
  }
  /** The Host changed or dropped a tool, or a program added one. `kept`: the agent keeps it; calls may fail. */
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
    readonly callId?: string | undefined
    /** This and the following: where the agent has a `Policy`. */
    readonly decision?: Decision | undefined
    readonly dataClass?: DataClass | undefined
    readonly operation?: Operation | undefined
    /** Path arguments, as given. */
    readonly paths?: readonly string[] | undefined
    /** The answer may say `remember`. */
    readonly mayRemember?: boolean | undefined
    /** The command that `remember: 'command'` covers, with plain operands behind it. */
    readonly commandStart?: string | undefined
    /** Where what it touches lies. */
    readonly reach?: readonly Reach[] | undefined
    /** Where all lies that the words of its command name. */
    readonly commandReach?: readonly Reach[] | undefined
    /** Where path arguments lead that are links: absolute, by the paths as given. */
    readonly leadsTo?: Readonly<Record<string, string>> | undefined
  }
  'approval-answered': {
    readonly agent: Entity
    readonly approval: string
    readonly tool: string
    readonly approved: boolean
    readonly reason?: string | undefined
  }
  /** A call of an agent with a `Policy` has ended: once a call, in the tick of its end, also for one that was refused. */
  'call-settled': {
    readonly agent: Entity
    readonly callId: string
    readonly tool: string
    readonly arguments: JsonObject
    /** Path arguments, as given. */
    readonly paths: readonly string[]
    readonly urls: readonly string[]
    readonly dataClass: DataClass
    readonly operation: Operation
    readonly decision: Decision
    /** `ran`: not held back, though it may have failed. `deny`: by the policy; `declined`: by a person, or no one could be asked. */
    readonly outcome: 'ran' | 'deny' | 'declined' | 'cancelled'
    readonly isError: boolean
    /** As the model reads it, files left out. */
    readonly result: string
    /** From 1, in the order of the agent's calls. */
    readonly number: number
    /** World time from the request, with the judgement and the approval. */
    readonly elapsedMs: number
  }
  /** A message or cancel that could not be delivered. */
  'input-refused': { readonly kind: string; readonly agent: Entity; readonly reason: string }
  /** An outcome, admission, answer or timer for something settled or despawned. Counted by the Runner. */
  'input-dropped': { readonly kind: string; readonly effect?: Entity | undefined; readonly reason: string }
  /** The next request starts differently: the provider's prompt cache is lost from there on. */
  'prefix-broken': { readonly agent: Entity; readonly component: string }
  /** The provider read less from its cache than it had there, though the prefix is the same. */
  'cache-missed': { readonly agent: Entity; readonly cached: number; readonly read: number }
  'session-queued': {
    readonly agent: Entity
    readonly session: Entity
    readonly sessionId: string
    readonly sequence: number
    readonly correlationId: string
  }
  /** A root agent has used 90 % of `DelegationLimits.sessions`: once per limit. `runner.change` raises it. */
  'session-limit-neared': {
    readonly agent: Entity
    readonly limit: number
    /** Launched by it and those below it, or granted to running ones. */
    readonly used: number
  }
  /** A session begins. */
  'delegation-started': DelegationFacts
  /** A session that had begun ended. */
  'delegation-completed': DelegationFacts & {
    readonly lifecycleStatus: SessionStatus
    readonly success: boolean
    /** From admission. */
    readonly durationMs: number
    /** `null` if absent or over 8192 bytes. */
    readonly result: string | null
    readonly error: string | null
    readonly artifactId: string | null
  }
  /** Also emitted for sessions that never began. */
  'session-ended': {
    readonly agent: Entity
    readonly session: Entity
    readonly sessionId: string
    readonly lifecycleStatus: SessionStatus
  }
  /** Answered or failed. */
  'query-answered': { readonly agent: Entity; readonly sessionId: string; readonly query: string }
  /** Work that a cancel stopped in this world; descendants emit their own. */
  'work-cancelled': {
    readonly agent: Entity
    /** Statuses before the cancel. */
    readonly sessions: readonly { readonly sessionId: string; readonly lifecycleStatus: SessionStatus }[]
    readonly effects: readonly StoppedEffect[]
  }
  /** A session's agent is done. */
  'session-settled': { readonly agent: Entity; readonly success: boolean }
  /** A session's agent only waits, for its own sessions or for a person. */
  'slot-released': { readonly agent: Entity }
  /** The final answer was empty or violated its schema; the model gets one retry. */
  'output-rejected': { readonly agent: Entity; readonly problem: string }
  'subtask-started': {
    readonly agent: Entity
    readonly model: string
    readonly name: string
    readonly subtaskId: string
  }
  /** `agent` is absent if the subtask was cancelled with it. */
  'subtask-ended': {
    readonly agent?: Entity | undefined
    /** Id under which a program waits. */
    readonly request?: string | undefined
    readonly result: SubtaskResult
    readonly subtaskId: string
  }
  /** The provider lacks the default small model; the agent's own is used. */
  'small-model-unavailable': { readonly agent: Entity; readonly model: string; readonly message: string }
  /** A summary of part of the conversation is being written; the next step waits for it. */
  'summary-started': {
    readonly agent: Entity
    readonly effect: Entity
    readonly kind: BoundaryEntry['kind']
    readonly by: BoundaryEntry['by']
  }
  /** A text now replaces the messages up to `seq`. */
  'boundary-written': {
    readonly agent: Entity
    readonly kind: BoundaryEntry['kind']
    readonly by: BoundaryEntry['by']
    readonly seq: number
    readonly chars: number
    readonly truncated: boolean
    readonly missingHeadings: readonly string[]
    readonly usage: TokenUsage
    readonly costUsd?: number | undefined
  }
  /** For the programs that requested a compaction or checkpoint. */
  'summary-answered': {
    readonly agent: Entity
    readonly requests: readonly string[]
    readonly result: SummaryResult
  }
  'compaction-failed': {
    readonly agent: Entity
    readonly by: BoundaryEntry['by']
    readonly failure: Failure
    /** In a row, of automatic ones. */
    readonly failures: number
  }
  /** The first call after a compaction is as full as before. */
  'compaction-ineffective': {
    readonly agent: Entity
    readonly fullness: number
    readonly threshold: number
    readonly failures: number
  }
  /** Not retried. */
  'checkpoint-failed': {
    readonly agent: Entity
    readonly by: BoundaryEntry['by']
    readonly failure: Failure
    readonly note?: string | undefined
  }
  /** Cost and saving of a rewrite, known after its first call. Unknown fields are absent. */
  'context-rewritten': {
    readonly agent: Entity
    readonly kind: RewriteKind
    /** Prompt tokens of the last own call before, and the first after. */
    readonly tokensBefore?: number | undefined
    readonly tokensAfter?: number | undefined
    readonly cachedTokensLost?: number | undefined
    /** Of the calls that wrote the replacement. */
    readonly costUsd?: number | undefined
  }
  /** A limit ended or refused a turn. */
  'turn-error': {
    readonly agent: Entity
    readonly kind: 'cost_ceiling' | 'watchdog' | 'cost_unknown' | 'context-overflow'
    readonly retryable: false
    readonly message: string
    /** A message to a stopped agent was refused. */
    readonly refused?: true
    readonly failure?: Failure | undefined
  }
  /** A call that may exceed a ceiling begins: once per turn and bound. */
  'cost-ceiling-neared': {
    readonly agent: Entity
    readonly bound: 'turn' | 'session'
    readonly limitUsd: number
    /** Highest possible cost of the calls in flight, this one included. */
    readonly reservedUsd: number
    readonly spentUsd: number
  }
  /** A model without a price is called under a ceiling: once per model. */
  'cost-unknown': { readonly agent: Entity; readonly model: string }
  /** The watchdog noticed a pattern in an agent's tool calls. */
  'watchdog-alerted': {
    readonly agent: Entity
    readonly signal: string
    readonly severity: 'warning' | 'critical'
    readonly message: string
    /** The triggering call. */
    readonly tool: string
    readonly callId: string
  }
  'archive-skipped': { readonly agent: Entity; readonly reason: string }
  'turn-archived': {
    readonly agent: Entity
    readonly subagentId: string
    readonly reason: ArchiveReason
    readonly summary: SummaryStatus
    readonly fromSeq: number
    readonly toSeq: number
  }
  'archive-failed': {
    readonly agent: Entity
    readonly subagentId: string
    readonly phase: ArchivePhase
    readonly failure: Failure
  }
  /** Leftovers of a holder that could not be made. */
  'archive-cleanup-failed': {
    readonly subagentId: string
    readonly left: readonly ('world' | 'transcript')[]
    readonly message: string
  }
  warning: { readonly agent?: Entity | undefined; readonly message: string }
}

/** Identifies a delegation at start and end. */
export type DelegationFacts = {
  readonly sessionId: string
  readonly correlationId: string
  readonly parent: Entity
  readonly category: string
  readonly kind: SessionKind
  readonly mode: 'sync' | 'background'
  readonly task: string
  /** Sessions above the parent, plus one. */
  readonly depth: number
}

/** What is known of an effect that was stopped. */
export type StoppedEffect = {
  readonly effect: Entity
  readonly kind: string
  readonly tool?: string | undefined
  /** `unknown`: it had begun, and may have happened. */
  readonly fate: 'not-begun' | 'aborted' | 'unknown'
}

export const standardEventTypes = Object.keys({
  'turn-started': true,
  'turn-ended': true,
  'step-stopped': true,
  rewound: true,
  'model-called': true,
  'model-replied': true,
  'model-failed': true,
  'retry-scheduled': true,
  'tool-called': true,
  'tool-answered': true,
  'call-settled': true,
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

/** An event of the standard systems. */
export type StandardEvent = {
  [K in keyof StandardEvents]: { readonly type: K } & StandardEvents[K]
}[keyof StandardEvents]
