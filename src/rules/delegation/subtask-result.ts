import { SubtaskOutcome, type SubtaskResult } from '../../protocol/delegation.ts'
import type { SubtaskSpending } from '../../protocol/usage.ts'
import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import type { JsonObject } from '../../world/json.ts'
import { parsedAs } from '../../world/parsed-as.ts'
import { nothingSpent } from '../money/subtask-spending.ts'
import { toUsd } from '../money/usd.ts'

/** The digest of a subtask whose model has written no text. */
export const noDigest = '[no digest]'

/** What a subtask has come to that has failed before it could say so itself. */
export function failedSubtask(
  subtaskId: string,
  failure: Failure,
  spent: SubtaskSpending = nothingSpent,
): SubtaskOutcome {
  return { digest: noDigest, durationMs: 0, failure, spent, stepsUsed: 0, subtaskId, truncated: false }
}

/** What an effect that is settled says of its subtask, or that it has failed. */
export function subtaskOutcome(subtaskId: string, outcome: OutcomeData): SubtaskOutcome {
  if (!outcome.ok) return failedSubtask(subtaskId, outcome.failure)
  const told = parsedAs(SubtaskOutcome(), outcome.value)
  const message = 'The subtask came back with an outcome that is none.'
  return told ?? failedSubtask(subtaskId, { kind: 'internal', message })
}

/** The same for a program. */
export function subtaskResult({ spent, ...outcome }: SubtaskOutcome): SubtaskResult {
  const { digest, durationMs, failure, stepsUsed, truncated } = outcome
  const { calls: _calls, costNanoUsd, estimated: _estimated, ...usage } = spent
  return {
    digest,
    truncated,
    stepsUsed,
    usage,
    ...(costNanoUsd !== undefined && { costUsd: toUsd(costNanoUsd) }),
    durationMs,
    ...(failure !== undefined && { failure }),
  }
}

/** The same for a model that has called a wrapper. One that failed and has nothing to say is an error. */
export function subtaskAnswer({ digest, failure, spent, stepsUsed, truncated }: SubtaskOutcome): {
  readonly text: string
  readonly isError: boolean
} {
  if (failure !== undefined && !truncated && digest === noDigest) {
    return { text: `Error: ${failure.message}`, isError: true }
  }
  const { costNanoUsd } = spent
  const answer: JsonObject = {
    digest,
    truncated,
    steps_used: stepsUsed,
    ...(costNanoUsd !== undefined && { cost_usd: toUsd(costNanoUsd) }),
  }
  return { text: JSON.stringify(answer), isError: false }
}
