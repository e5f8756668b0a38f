import { SessionEnd } from '../../../components/sessions/ancestry.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import type { Failure } from '../../protocol/failure.ts'
import { LastTurn, Turn } from '../../../components/agent/turn.ts'
import type { SubtaskData } from '../../../components/sessions/subtask.ts'
import type { SubtaskOutcome } from '../../protocol/delegation.ts'
import { textOf } from '../projection/text-of.ts'
import { cutText } from '../text/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { noDigest } from './subtask-result.ts'
import { subtaskSpending } from '../money/subtask-spending.ts'

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
