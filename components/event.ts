import type { Entity } from '../src/world/component.ts'
import type { Failure } from './failure.ts'
import type { Stop } from './last-turn.ts'
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
  /** The final answer did not follow its schema; the model is asked once more. */
  'output-rejected': { readonly agent: Entity; readonly problem: string }
  warning: { readonly agent?: Entity | undefined; readonly message: string }
}

export type StandardEvent = {
  [K in keyof StandardEvents]: { readonly type: K } & StandardEvents[K]
}[keyof StandardEvents]
