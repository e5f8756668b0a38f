import type { Entity } from '../src/world/component.ts'
import type { Failure } from './failure.ts'
import type { Stop } from './last-turn.ts'
import type { SessionStatus } from './session-status.ts'
import type { SessionKind } from './subagent-session.ts'
import type { TokenUsage } from './usage.ts'

/** What the standard systems tell, after the commit of the tick in which it happened. */
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
  /** A step begins: its request has so many messages. */
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
  'tool-called': { readonly agent: Entity; readonly effect: Entity; readonly callId: string; readonly tool: string }
  /** The result stands in the conversation. */
  'tool-answered': {
    readonly agent: Entity
    readonly callId: string
    readonly tool: string
    readonly isError: boolean
  }
  'approval-requested': { readonly agent: Entity; readonly approval: string; readonly tool: string }
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
  /** What a cancel has stopped: in this world; descendants tell of theirs. */
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
  /** The final answer did not follow its schema; the model is asked once more. */
  'output-rejected': { readonly agent: Entity; readonly problem: string }
  /** A turn was ended, or refused, by what bounds it. */
  'turn-error': {
    readonly agent: Entity
    readonly kind: 'cost_ceiling' | 'watchdog' | 'cost_unknown' | 'context-overflow'
    readonly retryable: false
    readonly message: string
    /** A message came while it was stopped, and was not taken. */
    readonly refused?: true
    readonly failure?: Failure | undefined
  }
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
  warning: { readonly agent?: Entity | undefined; readonly message: string }
}

/** What tells one delegation from another, at its start and at its end. */
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

export type StandardEvent = {
  [K in keyof StandardEvents]: { readonly type: K } & StandardEvents[K]
}[keyof StandardEvents]
