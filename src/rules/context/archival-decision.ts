import type { ArchivalData } from '../../../components/context/archival.ts'
import type { ArchiveReason } from '../../protocol/context.ts'
import type { Stop } from '../../protocol/failure.ts'
import type { Message } from '../../protocol/message.ts'

/** Why a turn is left where it is. */
export type SkipReason =
  | 'disabled'
  | 'empty'
  | 'depth_cap'
  | 'not_finished'
  | 'session_over'
  | 'cost_ceiling'
  | 'unanswered_call'
  | 'below_thresholds'

/** A turn that has ended, and what is to be known of its agent. */
export interface EndedTurnView {
  readonly config: Pick<ArchivalData, 'enabled' | 'trigger'>
  /** Sessions above the agent. */
  readonly depth: number
  readonly stop: Stop
  /** The turn has ended its session. */
  readonly sessionOver: boolean
  /** A cost ceiling is latched. */
  readonly latched: boolean
  /** The turn, from the message that opened it. */
  readonly messages: readonly Message[]
  /** Its tokens, or whether they are so many or more. It is asked only if nothing else has decided. */
  readonly estimate: number | ((tokens: number) => boolean)
}

export type ArchivalDecision =
  | { readonly archive: true; readonly reason: ArchiveReason }
  | { readonly archive: false; readonly reason: SkipReason }

/** Is a turn that has ended to be archived, and why, or why not? The first rule that holds says. */
export function archivalDecision(turn: EndedTurnView): ArchivalDecision {
  const skipped = exempt(turn)
  if (skipped !== undefined) return { archive: false, reason: skipped }
  const reason = trigger(turn)
  if (reason === undefined) return { archive: false, reason: 'below_thresholds' }
  return hasOpenCall(turn.messages) ? { archive: false, reason: 'unanswered_call' } : { archive: true, reason }
}

/** Why the triggers are not looked at. */
function exempt({ config, depth, latched, messages, sessionOver, stop }: EndedTurnView): SkipReason | undefined {
  if (!config.enabled) return 'disabled'
  if (messages.length < 2) return 'empty'
  if (depth >= config.trigger.depthCap) return 'depth_cap'
  if (stop !== 'done' && stop !== 'max-steps') return 'not_finished'
  if (sessionOver) return 'session_over'
  return latched ? 'cost_ceiling' : undefined
}

function trigger({ config, estimate, messages, stop }: EndedTurnView): ArchiveReason | undefined {
  const { onMaxTurns, tokenThreshold, toolCallThreshold } = config.trigger
  if (onMaxTurns && stop === 'max-steps') return 'max_turns'
  if (toolCallThreshold !== null && callsIn(messages) >= toolCallThreshold) return 'tool_calls'
  if (tokenThreshold === null) return undefined
  const isHeavy = typeof estimate === 'number' ? estimate >= tokenThreshold : estimate(tokenThreshold)
  return isHeavy ? 'tokens' : undefined
}

function callsIn(messages: readonly Message[]): number {
  let calls = 0
  for (const { content, role } of messages) {
    if (role !== 'assistant') continue
    for (const { type } of content) if (type === 'tool-call') calls++
  }
  return calls
}

/** Is there a call without a result? Results stand between the message that asked and the next one of the model. */
function hasOpenCall(messages: readonly Message[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant' && open.size > 0) return true
    if (message.role === 'tool') open.delete(message.callId)
    for (const id of callIdsOf(message)) open.add(id)
  }
  return open.size > 0
}

function callIdsOf(message: Message): readonly string[] {
  if (message.role !== 'assistant') return []
  return message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : []))
}
