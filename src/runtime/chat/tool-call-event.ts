import type { StandardEvents } from '../../protocol/event.ts'
import type { Channel, DataClass, Decision, Operation } from '../../protocol/policy.ts'
import type { JsonObject } from '../../base/json.ts'

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

export function toolCallEvent(settled: StandardEvents['call-settled'], channel: Channel): ToolCallEvent {
  const { callId: id, dataClass, decision, elapsedMs, operation, outcome, paths, result, tool, urls } = settled
  return deepFrozen({
    call: { id, tool, arguments: settled.arguments, channel, paths, urls, dataClass, operation },
    decision,
    outcome,
    result,
    success: outcome === 'ran' && !settled.isError,
    elapsedMs,
    callNumber: settled.number,
  })
}

/** Parts that are frozen come from a World, and are so throughout. */
function deepFrozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) {
    if (typeof part === 'object' && part !== null && !Object.isFrozen(part)) deepFrozen(part as object)
  }
  return Object.freeze(value)
}
