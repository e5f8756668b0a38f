import type { ArchivalData } from '../../../components/context/archival.ts'
import type { ArchiveReason } from '../../protocol/context.ts'
import type { Stop } from '../../protocol/failure.ts'
import type { Message, ProviderBlock } from '../../protocol/message.ts'

/** Why a turn is not archived. */
export type SkipReason =
  | 'disabled'
  | 'empty'
  | 'depth_cap'
  | 'not_finished'
  | 'session_over'
  | 'cost_ceiling'
  | 'unanswered_call'
  | 'below_thresholds'

/** What is known of a turn that has ended. */
export interface EndedTurnView {
  readonly config: Pick<ArchivalData, 'enabled' | 'trigger'>
  /** Sessions above the agent. */
  readonly depth: number
  readonly stop: Stop
  /** The turn ended its session. */
  readonly sessionOver: boolean
  /** A cost ceiling is latched. */
  readonly latched: boolean
  /** The turn, from its opening message. */
  readonly messages: readonly Message[]
  /** Its tokens, or whether they are at least so many; called only if nothing else decides. */
  readonly estimate: number | ((tokens: number) => boolean)
}

/** Whether a turn is archived, and why. */
export type ArchivalDecision =
  | { readonly archive: true; readonly reason: ArchiveReason }
  | { readonly archive: false; readonly reason: SkipReason }

/** Whether to archive an ended turn, and why. The first rule that holds decides. */
export function archivalDecision(turn: EndedTurnView): ArchivalDecision {
  const skipped = exempt(turn)
  if (skipped !== undefined) return { archive: false, reason: skipped }
  const reason = trigger(turn)
  if (reason === undefined) return { archive: false, reason: 'below_thresholds' }
  return hasOpenCall(turn.messages) ? { archive: false, reason: 'unanswered_call' } : { archive: true, reason }
}

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

/** The calls of tools, with those that a provider ran itself. */
export function callsIn(messages: readonly Message[]): number {
  let calls = 0
  for (const { content, role } of messages) {
    if (role !== 'assistant') continue
    for (const block of content) {
      if (block.type === 'tool-call' || (block.type === 'provider' && isCall(block))) calls++
    }
  }
  return calls
}

/** Such as `server_tool_use`, `mcp_tool_use`, `web_search_call`; results are blocks, or fields, of their own. */
function isCall({ data }: ProviderBlock): boolean {
  return typeof data['type'] === 'string' && /_(?:call|tool_use)$/.test(data['type'])
}

/** Is a call unanswered? Results stand between the message that asked and the model's next one. */
function hasOpenCall(messages: readonly Message[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'assistant' && open.size > 0) return true
    if (message.role === 'tool') open.delete(message.callId)
    if (message.role !== 'assistant') continue
    for (const block of message.content) if (block.type === 'tool-call') open.add(block.id)
  }
  return open.size > 0
}
