import { formatUsd, toNanoUsd } from '../../rules/money/usd.ts'
import type { AskEventOf, Before, ContextEvent, Totals } from '../ask-event.ts'
import { choosingKeys, scriptedModel } from '../choose-model.ts'
import { durationText, many, numberText } from './amounts.ts'
import type { Screen } from './screen.ts'

export function writeHead(screen: Screen, { run, folder, places, question, model }: AskEventOf<'run-started'>): void {
  screen.text(`entia · ${run} · ${model}`, 'bold')
  screen.text(`Reads ${folder}${places.length === 0 ? '' : ` (${places.join(', ')})`}`, 'dim')
  if (model === scriptedModel) {
    const keys = choosingKeys.join(' or ')
    screen.text(`A script answers: it searches and quotes, it does not think. Set ${keys} to use a model.`, 'dim')
  }
  screen.gap()
  screen.text(question, ['bold', 'cyan'])
  screen.gap()
}

export function beforeText({ modelCalls, toolCalls }: Before): string {
  return `Already done: ${many(modelCalls, 'model call')}, ${many(toolCalls, 'tool call')}.`
}

export function totalsText({ sessions, modelCalls, toolCalls, usage, durationMs }: Totals, model: string): string {
  const { input, cacheRead, cacheWrite, output } = usage
  const sent = [input, cacheRead, cacheWrite].filter((tokens) => tokens !== undefined)
  const parts = [many(sessions, 'session'), many(modelCalls, 'model call'), many(toolCalls, 'tool call')]
  if (sent.length > 0) parts.push(`${numberText(sent.reduce((sum, tokens) => sum + tokens, 0))} tokens in`)
  if (output !== undefined) parts.push(`${numberText(output)} out${model === scriptedModel ? ' (estimated)' : ''}`)
  return [...parts, durationText(durationMs)].join(' · ')
}

/** `undefined` for what users see elsewhere. */
export function contextText(event: ContextEvent): string | undefined {
  switch (event.type) {
    case 'summary-started':
      return undefined
    case 'boundary-written': {
      const what = event.kind === 'summary' ? 'Compacted: a summary' : 'Checkpoint: a record'
      const cut = event.truncated ? ', cut off at its output limit,' : ''
      return `${what} of ${many(event.chars, 'character')}${cut} replaces earlier messages.`
    }
    case 'compaction-failed':
      return `Compaction failed, the conversation is unchanged: ${event.failure.message}`
    case 'compaction-ineffective':
      return `Compaction did not help, the window is ${percent(event.fullness)} full again: the next one is delayed.`
    case 'checkpoint-failed':
      return `Checkpoint failed: ${event.failure.message}`
    case 'cost-ceiling-neared': {
      const [spent, reserved, limit] = [event.spentUsd, event.reservedUsd, event.limitUsd].map(usd)
      return `Near the cost ceiling of this ${event.bound}: ${spent} of ${limit} spent, at most ${reserved} in flight.`
    }
    case 'cost-unknown':
      return `${event.model} has no known price: its cost does not count towards the ceiling.`
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
