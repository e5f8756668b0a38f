import type { Json, JsonObject } from '../base/json.ts'
import type { LogView } from '../world/log-view.ts'
import type { Failure, RetryPolicy } from '../protocol/failure.ts'
import type { AssistantMessage, Message } from '../protocol/message.ts'
import type { ToolDeclaration } from '../protocol/tool-declaration.ts'
import type { TokenUsage } from '../protocol/usage.ts'

/** What is absent is left to the provider. */
export interface ModelOptions {
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  /** An effort, or a budget in tokens. */
  readonly thinking?: 'low' | 'medium' | 'high' | number | undefined
  /** Added unchanged to the provider's request body. */
  readonly extra?: JsonObject | undefined
}

/** Pure data projected from an agent's components: the same world gives the same bytes. */
export interface ModelRequest {
  /** The name that the provider is called by: what another one added to a reply does not go there. Absent: unknown. */
  readonly provider?: string | undefined
  readonly model: string
  /** Empty: none. */
  readonly system: string
  readonly tools: readonly ToolDeclaration[]
  /** A view that later messages do not change. */
  readonly messages: LogView<Message>
  /** Messages after the last cache breakpoint, different in each call. */
  readonly tail: readonly Message[]
  readonly options: ModelOptions
  /** No later request has this prefix, so caching it would only cost. @default false */
  readonly isOneShot?: boolean | undefined
  /** JSON Schema of the final text. */
  readonly outputSchema?: JsonObject | undefined
}

/** A streamed part of an answer. Shown, never stored. */
export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string }
  | { readonly type: 'tool-arguments'; readonly id: string; readonly text: string }

/** `stop`: finished, calls tools, or hit its output limit. */
export type ModelReply = {
  readonly message: AssistantMessage
  readonly stop: 'end' | 'tool-calls' | 'max-tokens'
  readonly usage: TokenUsage
  /** Invalid counts of the provider (negative, fraction, text) by name. `usage` lacks them. */
  readonly oddCounts?: Readonly<Record<string, string>> | undefined
}

/** What a provider gets besides the request. */
export interface ModelContext {
  /** Aborted when the call is cancelled, timed out or the Runner stops. */
  readonly signal: AbortSignal
  /** Unique to a call; the same for all attempts, after restarts too. */
  readonly key: string
  /** 1-based. */
  readonly attempt: number
  /** In a simulation: draws from a range by its seed. */
  readonly draw?: ((range: readonly [min: number, max: number]) => number) | undefined
  /** In a simulation: reports a script that threw or returned nothing valid. */
  readonly broke?: ((what: string, error?: unknown) => void) | undefined
  readonly onDelta: (delta: ModelDelta) => void
  /** Sleeps on the Runner's clock; rejects when the signal aborts. */
  readonly sleep: (durationMs: number) => Promise<void>
}

/** A request as it would go out, without keys. */
export interface WireRequest {
  readonly url: string
  /** That hold no key. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers with keys: the environment variable in place of each, as `Bearer $OPENAI_API_KEY`. */
  readonly keys: Readonly<Record<string, string>>
  readonly body: Json
}

/** How a model call ended: a reply, or a failure. */
export type ModelOutcome =
  | { readonly ok: true; readonly value: ModelReply }
  | { readonly ok: false; readonly failure: Failure }

/**
 * Translates requests and replies, and decides each failure kind once. `call` resolves with a failure; what it throws is a
 * defect and becomes `internal`.
 */
export interface ModelProvider {
  /** `false`: no retries. Absent: the standard policy. */
  readonly retry?: RetryPolicy | false | undefined
  /** Of simulated models: milliseconds of the Runner's clock until output begins. A simulation waits before `call`. */
  readonly latencyMs?: number | readonly [min: number, max: number] | undefined
  /** Bytes of text, thinking and tool calls. A longer reply fails as `truncated` without a retry. @default 16 MiB */
  readonly maxReplyBytes?: number | undefined
  /** What it adds to requests, so that a change is noticed. Absent: nothing, or constant. */
  readonly settings?: JsonObject | undefined
  /** Runs in this process: no price list knows its models, unless its name is a real provider's. @default false */
  readonly isInProcess?: boolean | undefined
  call(request: ModelRequest, context: ModelContext): Promise<ModelOutcome>
  /** A request in the provider's own form, for people who look; nothing is sent. Absent or `undefined`: it has none. */
  readonly wire?: ((request: ModelRequest) => Promise<WireRequest | undefined>) | undefined
  /** Lists available models, if the provider can. */
  readonly models?: ((signal?: AbortSignal) => Promise<readonly string[]>) | undefined
}
