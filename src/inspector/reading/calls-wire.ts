import type { Json, JsonObject } from '../../base/json.ts'

// What a page asks of model calls.

/** `GET api/request`: what a model call was sent, rebuilt from the world as of the tick in which it began. */
export interface RequestQuery {
  readonly world: string
  /** The tick in which a try of it began: `CallEntry.tries`. */
  readonly tick: number
  readonly effect: number
}
export interface RequestReply {
  readonly agent: number
  /** `provider/model`. */
  readonly model: string
  readonly parts: readonly RequestPart[]
  readonly options: JsonObject
  readonly outputSchema?: JsonObject | undefined
  /** In the provider's form, as it would go out; absent: the provider has none that is known here. */
  readonly wire?: RequestWire | undefined
  /** Why it has no such form: the provider refuses it. */
  readonly wireProblem?: string | undefined
  /** All parts together, as counted here. */
  readonly tokens: number
}
export interface RequestWire {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Headers that hold a key, with the environment variable in its place. */
  readonly keys: Readonly<Record<string, string>>
  readonly body: Json
}
export interface RequestUsage {
  readonly input?: number | undefined
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly output?: number | undefined
}
/** A part of a request, in the order in which it is sent. */
export interface RequestPart {
  readonly kind: 'options' | 'schema' | 'tools' | 'system' | 'message' | 'tail'
  /** The component that it comes from, and the entity that has it. */
  readonly component: string
  readonly entity: number
  /** A text for `system`, a `ToolDeclaration` for `tools`, an object for `options` and `schema`, a `Message` for the others. */
  readonly value: Json
  readonly tokens: number
  /** Bytes of its canonical JSON, from the beginning of the request. */
  readonly fromByte: number
  readonly toByte: number
}

/** `GET api/calls`: the model calls of a world, as its events tell of them. */
export interface CallsReply {
  /** In order of their ticks. One that began before the range is not there. */
  readonly calls: readonly CallEntry[]
  /** How conversations changed. */
  readonly edits: readonly LogEditEntry[]
  /** The range that was looked through: earlier ticks may not be kept, or too many. */
  readonly from: number
  readonly to: number
}
/** In a tick, `removed` messages of an agent's conversation gave way to `added` ones at an index; without an index at its end. */
export interface LogEditEntry {
  readonly tick: number
  readonly atMs: number
  readonly agent: number
  readonly at?: number | undefined
  readonly removed: number
  readonly added: number
}
export interface CallEntry {
  readonly effect: number
  readonly agent: number
  /** Of a step: its number in the turn. */
  readonly step?: number | undefined
  /** Of a call beside the conversation: what it is for. */
  readonly purpose?: string | undefined
  /** Of the conversation, as far as a step answers it. */
  readonly messages: number
  readonly tick: number
  /** The ticks in which its tries began, the first included. */
  readonly tries: readonly number[]
  readonly atMs: number
  /** When it was answered or given up. */
  readonly endTick?: number | undefined
  readonly endMs?: number | undefined
  /** `cancelled`: it was stopped, or its agent. */
  readonly state: 'open' | 'replied' | 'failed' | 'cancelled'
  readonly failure?: { readonly kind: string; readonly message: string } | undefined
  readonly usage?: RequestUsage | undefined
  readonly costNanoUsd?: number | undefined
}

/** `GET api/cache`: how far a request is the same as the one before it. */
export interface CacheReply {
  /** Of steps, in order; the newest that one reply takes. */
  readonly requests: readonly CacheEntry[]
  readonly from: number
  readonly to: number
}
export interface CacheEntry extends CallEntry {
  readonly model: string
  /** Which request it is compared with: of the same agent, or, of a fork's first, of its parent. */
  readonly before?: { readonly world: string; readonly effect: number; readonly tick: number } | undefined
  readonly sharedBytes: number
  readonly sharedTokens: number
  readonly totalBytes: number
  readonly totalTokens: number
  /** The first byte that differs, and the component that it comes from; absent: it goes on from the whole of the one before. */
  readonly broken?: CacheBreak | undefined
}
export interface CacheBreak {
  readonly atByte: number
  readonly component: string
  /** Around the first byte that differs. */
  readonly before: string
  readonly after: string
  /** Tokens that the one before had in its prefix and that are sent anew, and what they cost. */
  readonly paidAgainTokens: number
  readonly paidAgainNanoUsd?: number | undefined
}

/** `GET api/tokens`: what messages of an agent's conversation cost to read, as counted here. At most 500. */
export interface TokensQuery {
  readonly world: string
  readonly tick: number
  readonly agent: number
  /** Indexes: the first, and the one behind the last. */
  readonly from: number
  readonly to: number
}
export interface TokensReply {
  readonly tokens: readonly number[]
}

/** `GET api/spending`: what an agent's calls and sessions in flight may still cost. */
export interface SpendingQuery {
  readonly world: string
  readonly tick: number
  readonly agent: number
}
export interface SpendingReply {
  /** Calls and grants of sessions together. */
  readonly reservedNanoUsd: number
}
