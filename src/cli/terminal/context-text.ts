import { formatUsd, toNanoUsd } from '../../rules/money/usd.ts'
import type { ContextEvent } from '../ask-event.ts'
import { many } from './amounts.ts'

/** What people are told of what keeps a run alive and within bounds; nothing of what they see otherwise. */
export function contextText(event: ContextEvent): string | undefined {
  switch (event.type) {
    case 'summary-started':
      return undefined
    case 'boundary-written': {
      const what = event.kind === 'summary' ? 'Compacted: a summary' : 'Checkpoint: a record'
      const cut = event.truncated ? ', cut off at its output limit,' : ''
      return `${what} of ${many(event.chars, 'character')}${cut} stands for what came before.`
    }
    case 'compaction-failed':
      return `The conversation could not be compacted, and stays whole: ${event.failure.message}`
    case 'compaction-ineffective':
      return `Compacted, and already ${percent(event.fullness)} full again: the next one waits.`
    case 'checkpoint-failed':
      return `The record of the task could not be written: ${event.failure.message}`
    case 'cost-ceiling-neared': {
      const [spent, reserved, limit] = [event.spentUsd, event.reservedUsd, event.limitUsd].map(usd)
      return `Near the ceiling of this ${event.bound}: ${spent} of ${limit} spent, at most ${reserved} in flight.`
    }
    case 'cost-unknown':
      return `${event.model} has no price that is known: what it costs does not count towards the ceiling.`
    case 'watchdog-alerted':
      return `Watchdog: ${event.message}`
    case 'small-model-unavailable':
    case 'turn-error':
      return event.message
  }
}

function usd(amount: number): string {
  return formatUsd(toNanoUsd(amount))
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}
