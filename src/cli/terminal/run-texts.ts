import type { AskEventOf, Before, Totals } from '../ask-event.ts'
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
