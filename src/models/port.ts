import type { JsonObject } from '../world/json.ts'
import type { LogView } from '../world/log-view.ts'
import type { Failure, RetryPolicy } from '../protocol/failure.ts'
import type { AssistantMessage, Message } from '../protocol/message.ts'
import type { ToolDeclaration } from '../protocol/tool-declaration.ts'
import type { TokenUsage } from '../protocol/usage.ts'

/** Settings of one call. What is absent is left to the provider. */
export interface ModelOptions {
  /** Most tokens that the model may write. */
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  /** How much the model may think before it answers: an effort by name, or a number of tokens. */
  readonly thinking?: 'low' | 'medium' | 'high' | number | undefined
  /** Further fields of the provider's own request body, passed on as they are. */
  readonly extra?: JsonObject | undefined
}

/** One call of a model, projected from an agent's components. Pure data; the same world gives the same bytes. */
export interface ModelRequest {
  /** The model's name without its provider. */
  readonly model: string
  /** The system prompt; empty when there is none. */
  readonly system: string
  readonly tools: readonly ToolDeclaration[]
  /** The conversation so far. A view: later messages of the agent do not show in it. */
  readonly messages: LogView<Message>
  /** Messages behind the last cache breakpoint, made anew for each call and outside the shared prefix. */
  readonly tail: readonly Message[]
  readonly options: ModelOptions
  /** No later request begins with this one, so a cache entry of it would be paid for and never read. @default false */
  readonly isOneShot?: boolean | undefined
  /** JSON Schema that the final text has to follow. */
  readonly outputSchema?: JsonObject | undefined
}

/** What a model streams while it answers. Shown, never stored. */
export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-arguments'; readonly id: string; readonly text: string }

/** A finished answer. `stop` says why the model stopped: of itself, to have tools called, or at its output limit. */
export type ModelReply = {
  readonly message: AssistantMessage
  readonly stop: 'end' | 'tool-calls' | 'max-tokens'
  readonly usage: TokenUsage
  /** Counts that the provider sent and that can be none (negative, a fraction, a text), by name. `usage` lacks them. */
  readonly oddCounts?: Readonly<Record<string, string>> | undefined
}

/** What a provider is given besides the request. */
export interface ModelContext {
  /** Aborted when the call is cancelled, timed out or the Runner stops. */
  readonly signal: AbortSignal
  /** The same for all tries of a call, over restarts too, and no other call's. */
  readonly key: string
  /** 1 for the first try. */
  readonly attempt: number
  /** Of a simulation: a place in a range, as its seed decides. */
  readonly draw?: ((range: readonly [min: number, max: number]) => number) | undefined
  /** Of a simulation: hears of a script that threw or gave no answer, which would otherwise be a failure like others. */
  readonly broke?: ((what: string, error?: unknown) => void) | undefined
  readonly onDelta: (delta: ModelDelta) => void
  /** Resolves after so many milliseconds of the Runner's clock; rejects when the signal aborts. */
  readonly sleep: (durationMs: number) => Promise<void>
}

export type ModelOutcome =
  | { readonly ok: true; readonly value: ModelReply }
  | { readonly ok: false; readonly failure: Failure }

/**
 * Where models come from. One file a provider turns the canonical form into a wire form and back, and decides the kind
 * of each failure once. `call` resolves with a failure; what it throws is a defect and becomes `internal`.
 */
export interface ModelProvider {
  /** Policy for calls that fail; `false` means none. Absent: the standard policy. */
  readonly retry?: RetryPolicy | false | undefined
  /**
   * How long it takes until it says anything, in milliseconds of the Runner's clock, if it is no real one. In a simulation
   * that has passed by the time of the call.
   */
  readonly latencyMs?: number | readonly [min: number, max: number] | undefined
  /**
   * Largest reply that it may stream, in bytes of text, thinking and tool calls. The call is ended beyond it, and fails as
   * `truncated`, not to be tried again. @default 16 MiB
   */
  readonly maxReplyBytes?: number | undefined
  /** What of its own it adds to requests, so that a change of it is seen. Absent: nothing, or always the same. */
  readonly settings?: JsonObject | undefined
  /** It thinks in this process: unless it goes by the name of a real provider, no price list knows its models. @default false */
  readonly isInProcess?: boolean | undefined
  call(request: ModelRequest, context: ModelContext): Promise<ModelOutcome>
  /** Lists the models that can be had, where the provider can tell. */
  readonly models?: (() => Promise<readonly string[]>) | undefined
}
