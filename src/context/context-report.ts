import { parseModel } from '../models/model-name.ts'
import type { ContextStats, ModelRow } from './context-stats.ts'
import { spentText } from './spent-text.ts'
import { cutText } from '../tools/cut-text.ts'

/** Longest note or focus that is shown, in characters. */
const maxNoteChars = 80

/**
 * What `/context` prints: what keeps an agent's context alive has done so far, a row each.
 *
 * @param nowMs the world time at which it is looked at
 */
export function contextReport(stats: ContextStats, nowMs: number): string {
  const { archive } = stats
  const rows = [
    `Compactions: ${count(stats.compactionCount, stats.lastCompactionAtMs, nowMs, 'focus', stats.lastCompactionFocus)}`,
    `Checkpoints: ${count(stats.checkpointCount, stats.lastCheckpointAtMs, nowMs, 'note', stats.lastCheckpointNote)}`,
    ...(stats.totalSummaryChars > 0 ? [`Summarized: ${stats.totalSummaryChars} chars across all boundaries`] : []),
    `Subtasks: ${subtasks(stats)}`,
    ...(archive.archived + archive.waiting + archive.failed > 0
      ? [`Archived: ${archive.archived} turns (${archive.waiting} waiting, ${archive.failed} failed)`]
      : []),
    `Window: ${windowText(stats.window)}`,
    ...modelLines(stats.modelBreakdown),
  ]
  return ['Context-management activity:', ...rows.map((row) => `  ${row}`)].join('\n')
}

function count(
  number: number,
  lastAtMs: number | undefined,
  nowMs: number,
  what: string,
  note: string | undefined,
): string {
  if (number === 0) return 'none yet'
  const last = [
    `last ${ageText(nowMs - (lastAtMs ?? nowMs))} ago`,
    ...(note === undefined ? [] : [`${what}: ${cut(note)}`]),
  ]
  return `${number} (${last.join(', ')})`
}

function subtasks(stats: ContextStats): string {
  const { subtaskCount, subtaskInputTokens, subtaskOutputTokens, subtaskCostUsd, subtaskHasUnpriced } = stats
  if (subtaskCount === 0) return 'none yet'
  const unpriced = subtaskHasUnpriced === true ? 1 : 0
  const cost = subtaskCostUsd === undefined ? '' : `, ${spentText(subtaskCostUsd, unpriced)} rolled up to /stats total`
  return `${subtaskCount} (${subtaskInputTokens} in / ${subtaskOutputTokens} out tokens${cost})`
}

const whyNot = {
  off: 'switched off',
  'unknown-window': 'its window is not known',
  'unknown-usage': 'the provider does not say what it reads',
  'no-own-call': 'no call yet',
  'back-off': 'waiting after a failure',
} as const

function windowText({
  automatic,
  fullness,
  model,
  promptTokens,
  reason,
  source,
  threshold,
  tokens,
}: ContextStats['window']): string {
  const name = model === undefined ? 'no model' : parseModel(model).model
  if (reason === 'unknown-window' || (tokens === undefined && reason !== 'no-own-call')) {
    return `unknown for ${name}, no automatic compaction`
  }
  const used =
    tokens === undefined
      ? `not known yet for ${name}`
      : promptTokens === undefined
        ? `${tokens} tokens`
        : `${promptTokens} of ${tokens} tokens (${percent(fullness ?? 0)})`
  if (automatic) return `${used}, compacts at ${percent(threshold)} (${source})`
  return reason === 'no-own-call'
    ? `${used}, compacts at ${percent(threshold)} (${source}), ${whyNot[reason]}`
    : `${used}, no automatic compaction (${reason === undefined ? 'switched off' : whyNot[reason]})`
}

function modelLines(rows: readonly ModelRow[] | undefined): readonly string[] {
  return (rows ?? []).map((row, index) => `${index === 0 ? 'Models: ' : '      + '}${modelText(row)}`)
}

/** A row of the models. */
function modelText({ model, calls, inputTokens, outputTokens, costUsd, unpriced }: ModelRow): string {
  const cost = costUsd === undefined ? 'no price' : spentText(costUsd, unpriced)
  return `${parseModel(model).model} (${calls} calls, ${inputTokens} in / ${outputTokens} out, ${cost})`
}

/** How long ago that was: `51s`, `4m12s`, `2h05m`. */
export function ageText(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1_000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m${padded(seconds % 60)}s`
  return `${Math.floor(minutes / 60)}h${padded(minutes % 60)}m`
}

function padded(number: number): string {
  return String(number).padStart(2, '0')
}

function cut(text: string): string {
  return cutText(text.replaceAll(/\s+/g, ' ').trim(), maxNoteChars, '...')
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}
