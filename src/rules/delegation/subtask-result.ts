import { SubtaskOutcome, type SubtaskResult } from '../../protocol/delegation.ts'
import type { SubtaskSpending } from '../../protocol/usage.ts'
import type { Failure, OutcomeData } from '../../protocol/failure.ts'
import type { JsonObject } from '../../base/json.ts'
import { toUsd } from '../money/usd.ts'
import { SessionEnd } from '../../../components/sessions/ancestry.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { LastTurn, Turn } from '../../../components/agent/turn.ts'
import type { SubtaskData } from '../../../components/sessions/subtask.ts'
import { textOf } from '../projection/text-of.ts'
import { cutText } from '../../base/cut-text.ts'
import { parsedAs, type Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { Ledger } from '../../../components/money/ledger.ts'
import { Usage } from '../../../components/money/usage.ts'
import { marksOf } from '../policy/marks.ts'
import { knownCost, withAdded } from '../tokens/token-counts.ts'

/** The digest of a subtask without a text. */
const noDigest = '[no digest]'

/** The outcome of a subtask that could not report one. */
export function failedSubtask(
  subtaskId: string,
  failure: Failure,
  spent: SubtaskSpending = nothingSpent,
): SubtaskOutcome {
  return { digest: noDigest, durationMs: 0, failure, spent, stepsUsed: 0, subtaskId, truncated: false }
}

/** A settled effect's subtask outcome. */
export function subtaskOutcome(subtaskId: string, outcome: OutcomeData): SubtaskOutcome {
  if (!outcome.ok) return failedSubtask(subtaskId, outcome.failure)
  const told = parsedAs(SubtaskOutcome(), outcome.value)
  const message = 'The subtask returned an invalid outcome.'
  return told ?? failedSubtask(subtaskId, { kind: 'internal', message })
}

/** An outcome for a program. */
export function subtaskResult({ spent, ...outcome }: SubtaskOutcome): SubtaskResult {
  const { digest, durationMs, failure, stepsUsed, truncated } = outcome
  const { calls: _, costNanoUsd: __, costUnknown: ___, estimated: ____, ...usage } = spent
  const cost = costOf(spent)
  return {
    digest,
    truncated,
    stepsUsed,
    usage,
    ...(cost !== undefined && { costUsd: toUsd(cost) }),
    durationMs,
    ...(failure !== undefined && { failure }),
  }
}

/** An outcome for the model that called a wrapper. A failure without a digest is an error. */
export function subtaskAnswer({ digest, failure, spent, stepsUsed, truncated }: SubtaskOutcome): {
  readonly text: string
  readonly isError: boolean
} {
  if (failure !== undefined && !truncated && digest === noDigest) {
    return { text: `Error: ${failure.message}`, isError: true }
  }
  const cost = costOf(spent)
  const answer: JsonObject = {
    digest,
    truncated,
    steps_used: stepsUsed,
    ...(cost !== undefined && { cost_usd: toUsd(cost) }),
  }
  return { text: JSON.stringify(answer), isError: false }
}

/** In billionths of a US dollar; `undefined`: the cost of a call is unknown or estimated, or none was made. */
function costOf(spent: SubtaskSpending): number | undefined {
  return spent.calls === 0 || (spent.estimated ?? 0) > 0 ? undefined : knownCost(spent)
}

/** Longest text of a subtask that a call is answered with, in characters. */
const maxTextChars = 50_000

/** The text of a subtask alone, for a model that asked another one. */
export function subtaskText({ digest, failure, truncated }: SubtaskOutcome): {
  readonly text: string
  readonly isError: boolean
} {
  if (failure !== undefined) return { text: `Error: ${failure.message}`, isError: true }
  const shown = cutText(digest === noDigest ? '' : digest, maxTextChars)
  const leftOut = digest.length - shown.length
  const notes = [
    ...(shown === '' ? ['[no answer]'] : []),
    ...(shown !== '' && leftOut > 0 ? [`[${leftOut} characters left out]`] : []),
    ...(truncated ? ['[cut at the output limit]'] : []),
  ]
  return { text: [shown, ...notes].filter((part) => part !== '').join('\n'), isError: false }
}

const cutMark = '\n[digest truncated]'

export interface EndedSubtaskOptions {
  /** Its world could not go on. */
  readonly failure?: Failure | undefined
  /** It timed out. */
  readonly isLate: boolean
}

/** A subtask's outcome, from its world. */
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
  const marks = marksOf(world, agent)
  const ranOut = last?.stop === 'max-steps' || last?.stop === 'budget-spent'
  return {
    digest: isCut ? digest + cutMark : digest,
    durationMs: world.nowMs,
    ...(failure !== undefined && { failure }),
    ...(marks !== undefined && { marks }),
    spent: subtaskSpending(world, agent),
    stepsUsed: (last ?? world.get(agent, Turn))?.steps ?? 0,
    subtaskId,
    truncated: wasCut || isCut || ranOut || last?.truncated === true,
  }
}

export function hasEnded(world: World, agent: Entity): boolean {
  return world.has(agent, SessionEnd)
}

/** The last text that its model wrote, not the closing text of a stopped turn. */
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

export const nothingSpent: SubtaskSpending = { calls: 0 }

/** What a subtask's agent has spent: by its ledger or, without one, by its calls' reports. */
export function subtaskSpending(world: World, agent: Entity): SubtaskSpending {
  const rows = Object.values(world.get(agent, Ledger)?.models ?? {})
  if (rows.length === 0) return world.get(agent, Usage) ?? nothingSpent
  const { unpriced: _, ...spent } = rows.reduce((sum, row) => withAdded(sum, row))
  return spent
}
