import { formatUsd, toNanoUsd } from '../../rules/money/usd.ts'
import type { AskEventOf, Before, ContextEvent, Totals } from '../ask-event.ts'
import { choosingKeys, scriptedModel } from '../choose-model.ts'
import { durationText, many, numberText } from './amounts.ts'
import type { Screen } from './screen.ts'

/** How every run begins: what is asked of whom. */
export function writeHead(screen: Screen, { run, folder, places, question, model }: AskEventOf<'run-started'>): void {
  screen.text(`entia · ${run} · ${model}`, 'bold')
  screen.text(`Reads ${folder}${places.length === 0 ? '' : ` (${places.join(', ')})`}`, 'dim')
  if (model === scriptedModel) {
    const keys = choosingKeys.join(' or ')
    screen.text(`Scripts read: they find and quote, but do not think. With ${keys} set, models do.`, 'dim')
  }
  screen.gap()
  screen.text(question, ['bold', 'cyan'])
  screen.gap()
}

/** What a run that goes on has done already. */
export function beforeText({ modelCalls, toolCalls }: Before): string {
  return `Done before, and not done again: ${many(modelCalls, 'model call')}, ${many(toolCalls, 'tool call')}.`
}

/** What a run took. */
export function totalsText({ sessions, modelCalls, toolCalls, usage, durationMs }: Totals, model: string): string {
  const { input, cacheRead, cacheWrite, output } = usage
  const sent = [input, cacheRead, cacheWrite].filter((tokens) => tokens !== undefined)
  const parts = [many(sessions, 'session'), many(modelCalls, 'model call'), many(toolCalls, 'tool call')]
  if (sent.length > 0) parts.push(`${numberText(sent.reduce((sum, tokens) => sum + tokens, 0))} tokens in`)
  if (output !== undefined) parts.push(`${numberText(output)} out${model === scriptedModel ? ' (estimated)' : ''}`)
  return [...parts, durationText(durationMs)].join(' · ')
}

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
