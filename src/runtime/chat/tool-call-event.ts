import type { Channel, DataClass, Decision, Operation } from '../../protocol/policy.ts'
import type { JsonObject } from '../../world/json.ts'

/** A tool call of a chat session, and what the policy knows of it. */
export interface ChatCall {
  readonly id: string
  readonly tool: string
  readonly arguments: JsonObject
  readonly channel: Channel
  /** Its path arguments, as given. */
  readonly paths: readonly string[]
  readonly urls: readonly string[]
  readonly dataClass: DataClass
  readonly operation: Operation
}

/** A call that has its result: what observers get. Deeply frozen. */
export interface ToolCallEvent {
  readonly call: ChatCall
  readonly decision: Decision
  /** `deny`: by the policy. `declined`: by a person, or because nobody could be asked. */
  readonly outcome: 'ran' | 'deny' | 'declined' | 'cancelled'
  /** The text that the model gets. */
  readonly result: string
  /** It ran, without an error. */
  readonly success: boolean
  /** Policy, approval and run together, on the Runner's clock. */
  readonly elapsedMs: number
  /** Counts the calls of the chat session from 1. */
  readonly callNumber: number
}
