import { SubtaskOutcome, type SubtaskResult } from '../../protocol/delegation.ts'
import type { SubtaskSpending } from '../../protocol/usage.ts'
import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import type { JsonObject } from '../../world/json.ts'
import { parsedAs } from '../../world/parsed-as.ts'
import { toUsd } from '../money/usd.ts'
import { SessionEnd } from '../../../components/sessions/ancestry.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { LastTurn, Turn } from '../../../components/agent/turn.ts'
import type { SubtaskData } from '../../../components/sessions/subtask.ts'
import { textOf } from '../projection/text-of.ts'
import { cutText } from '../text/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { Ledger } from '../../../components/money/ledger.ts'
import { Usage } from '../../../components/money/usage.ts'
import { withAdded } from '../tokens/token-counts.ts'

/** The digest of a subtask whose model has written no text. */
const noDigest = '[no digest]'

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

const cutMark = '\n[digest truncated]'

export interface EndedSubtaskOptions {
  /** Its World could not go on. */
  readonly failure?: Failure | undefined
  /** Its time was over before it had ended. */
  readonly isLate: boolean
}

/** What a subtask has come to, as its World has it. */
export function endedSubtask(
  world: World,
  agent: Entity,
  { maxDigestChars = Infinity, subtaskId, timeoutMs }: SubtaskData,
  { failure: broken, isLate }: EndedSubtaskOptions,
): SubtaskOutcome {
  const last = world.get(agent, LastTurn)
  // Nobody but the end of its time cancels what it is at.
  const wasCut = isLate || last?.stop === 'cancelled'
  const text = lastWords(world, agent)
  const digest = cutText(text, maxDigestChars)
  const isCut = digest !== text
  const late = { kind: 'timed-out' as const, message: `The subtask did not end within ${timeoutMs} ms.` }
  const failure = wasCut ? late : (last?.failure ?? broken)
  const ranOut = last?.stop === 'max-steps' || last?.stop === 'budget-spent'
  return {
    digest: isCut ? digest + cutMark : digest,
    durationMs: world.nowMs,
    ...(failure !== undefined && { failure }),
    spent: subtaskSpending(world, agent),
    stepsUsed: (last ?? world.get(agent, Turn))?.steps ?? 0,
    subtaskId,
    truncated: wasCut || isCut || ranOut || last?.truncated === true,
  }
}

/** Has its agent come to its end? */
export function hasEnded(world: World, agent: Entity): boolean {
  return world.has(agent, SessionEnd)
}

/** The last text that its model wrote. What closes a turn that was stopped is none. */
function lastWords(world: World, agent: Entity): string {
  const messages = world.get(agent, Conversation) ?? []
  const isWritten = (index: number): boolean => {
    const message = messages[index]
    return message?.role === 'assistant' && message.model !== undefined && textOf(message).trim() !== ''
  }
  let index = messages.length - 1
  while (index >= 0 && !isWritten(index)) index--
  return index < 0 ? noDigest : textOf(messages[index])
}

/** What no call has used. */
export const nothingSpent: SubtaskSpending = { calls: 0 }

/** What the agent of a subtask has spent so far: as its ledger has it, or, without one, what its model calls have reported. */
export function subtaskSpending(world: World, agent: Entity): SubtaskSpending {
  const rows = Object.values(world.get(agent, Ledger)?.models ?? {})
  if (rows.length === 0) return world.get(agent, Usage) ?? nothingSpent
  const { unpriced: _, ...spent } = rows.reduce((sum, row) => withAdded(sum, row))
  return spent
}
