import { Effect, Pending } from '../../../components/effects/effect.ts'
import type { Failure, OutcomeData } from '../../../src/protocol/failure.ts'
import { SideCall } from '../../../components/effects/model-call.ts'
import type { TokenUsage } from '../../../src/protocol/usage.ts'
import type { PricedReply } from '../../../src/rules/money/call-cost.ts'
import { textOf } from '../../../src/rules/projection/text-of.ts'
import { cutText } from '../../../src/base/cut-text.ts'
import type { Entity, Initial } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { callProblem, reserve } from '../../money/begin-call.ts'
import { spentGrant } from '../../sessions/delegation.ts'

/** Why an agent may not start a side call now: a reached ceiling or a spent grant. `undefined`: it may. */
export function sideCallProblem(world: World, agent: Entity, model: string): Failure | undefined {
  return callProblem(world, agent, model) ?? spentGrant(world, agent)
}

/** When a side call times out, in ms. */
type Bound = { readonly deadlineMs: number } | { readonly timeoutMs: number }

/**
 * Starts a model call about a part of an agent's conversation. `retry` shortens the part if it exceeds the model's
 * window; `charging` charges it.
 * @param purpose says which system takes the outcome
 */
export function askForText(world: World, call: Parameters<typeof SideCall>[0], bound: Bound, purpose: Initial): Entity {
  const effect = Effect({ attempt: 1, kind: 'model', restart: 'pure', ...bound })
  const spawned = world.spawn(SideCall(call), purpose, effect, Pending)
  reserve(world, call.agent, call.model)
  return spawned
}

export interface Written {
  readonly costNanoUsd?: number | undefined
  /** It was cut at the model's output limit. */
  readonly isStopped: boolean
  /** Trimmed. */
  readonly text: string
  readonly usage: TokenUsage
}

/** The text in a side call's outcome, or the failure. */
export function writtenText(outcome: OutcomeData): Written | Failure {
  if (!outcome.ok) return outcome.failure
  const { costNanoUsd, message, stop, usage } = (outcome.value ?? {}) as Partial<PricedReply>
  if (message?.role !== 'assistant' || typeof usage !== 'object' || usage === null) {
    return malformedReply('expected an assistant message and its usage')
  }
  return { costNanoUsd, isStopped: stop === 'max-tokens', text: textOf(message).trim(), usage }
}

export function malformedReply(problem: string): Failure {
  return { kind: 'internal', message: `The provider's reply is malformed: ${problem}` }
}

/** No language has more characters per token. */
const maxCharsPerToken = 8
const leastTokens = 1_024
const cutMark = '\n[summary truncated]'

/** Longest summary, in characters. Not every server enforces the output limit. */
export function maxSummaryChars(maxOutputTokens: number): number {
  return maxCharsPerToken * Math.max(leastTokens, maxOutputTokens)
}

export function cutSummary(text: string, maxChars: number): string {
  return cutText(text, maxChars, cutMark)
}
