import { collapsed } from '../../base/one-line.ts'
import type { TurnData } from '../../../components/agent/turn.ts'
import type { ContextStats, ModelRow } from './context-stats.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { cutText } from '../../base/cut-text.ts'

const maxNoteChars = 80

/**
 * The rows of `/context`: what context management has done for an agent.
 * @param nowMs current world time
 */
export function contextReport(stats: ContextStats, nowMs: number): string {
  const { archive } = stats
  const rows = [
    `Compactions: ${count(stats.compactionCount, stats.lastCompactionAtMs, nowMs, 'focus', stats.lastCompactionFocus)}`,
    `Checkpoints: ${count(stats.checkpointCount, stats.lastCheckpointAtMs, nowMs, 'note', stats.lastCheckpointNote)}`,
    ...(stats.totalSummaryChars > 0 ? [`Summarized: ${stats.totalSummaryChars} chars across all boundaries`] : []),
    `Subtasks: ${subtasks(stats)}`,
    ...(archive.archived + archive.waiting + archive.failed > 0
      ? [`Archived: ${counted(archive.archived, 'turn')} (${archive.waiting} waiting, ${archive.failed} failed)`]
      : []),
    `Window: ${windowText(stats.window)}`,
    ...(stats.stopped === undefined ? [] : [`Stopped: ${stopText(stats.stopped)}`]),
    ...modelLines(stats.modelBreakdown),
  ]
  return ['Context-management activity:', ...rows.map((row) => `  ${row}`)].join('\n')
}

/**
 * The rows of `/stats`: what an agent has done and spent.
 * @param turn the open turn, or the last one
 */
export function statsReport(stats: ContextStats, turn: Pick<TurnData, 'steps' | 'toolCalls'> | undefined): string {
  const { cost, models } = stats
  const sum = (of: (row: ModelRow) => number): number => models.reduce((total, row) => total + of(row), 0)
  const calls = sum((row) => row.calls)
  const estimated = cost.estimatedCalls === 0 ? '' : `, ${counted(cost.estimatedCalls, 'call')} estimated`
  const unpriced = models.filter((row) => row.unpriced > 0).map(({ model }) => model)
  const cutOff = cost.unknownCalls - cost.unpricedCalls
  const rows = [
    `Turn: ${turn === undefined ? 'none yet' : `${counted(turn.steps, 'step')}, ${counted(turn.toolCalls, 'tool call')}, ${money(cost.turnUsd, cost.turnUnknownCalls, cutOff === 0)}`}`,
    `Session: ${counted(calls, 'model call')}, ${money(cost.sessionUsd, cost.unknownCalls, cutOff === 0)}${estimated}`,
    `Tokens: ${sum((row) => row.inputTokens)} in (${sum((row) => row.cacheReadTokens)} cache read, ${sum((row) => row.cacheWriteTokens)} cache write) / ${sum((row) => row.outputTokens)} out`,
    ...(cost.reservedUsd > 0 ? [`Reserved: ${spentText(cost.reservedUsd, 0)} for calls and sessions in flight`] : []),
    ...modelLines(models),
    ...(unpriced.length === 0 ? [] : [`No price: ${unpriced.join(', ')}`]),
    ...(cutOff === 0
      ? []
      : [`Cost unknown: ${counted(cutOff, 'call')} that ended before the provider said what was used`]),
    ...(stats.stopped === undefined ? [] : [`Stopped: ${stopText(stats.stopped)}`]),
  ]
  return ['Usage:', ...rows.map((row) => `  ${row}`)].join('\n')
}

/** @param isUnpriced the calls of unknown cost have no price */
function money(costUsd: number, unknownCalls: number, isUnpriced: boolean): string {
  if (costUsd > 0 || unknownCalls === 0) return spentText(costUsd, unknownCalls)
  return isUnpriced ? 'no price' : 'cost unknown'
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
  rewritten: 'no call since the conversation was rewritten',
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
  const isWaiting = reason === 'no-own-call' || reason === 'rewritten'
  if (reason === 'unknown-window' || (tokens === undefined && !isWaiting)) {
    return `unknown for ${name}, no automatic compaction`
  }
  const used =
    tokens === undefined
      ? `not known yet for ${name}`
      : promptTokens === undefined
        ? `${tokens} tokens`
        : `${promptTokens} of ${tokens} tokens (${percent(fullness ?? 0)})`
  if (automatic) return `${used}, compacts at ${percent(threshold)} (${source})`
  return isWaiting
    ? `${used}, compacts at ${percent(threshold)} (${source}), ${whyNot[reason]}`
    : `${used}, no automatic compaction (${reason === undefined ? 'switched off' : whyNot[reason]})`
}

const resumeBy = { 'cost-ceiling': '/resume-after-cost-ceiling', watchdog: '/resume-after-watchdog' } as const

function stopText({ by, message }: NonNullable<ContextStats['stopped']>): string {
  return `${message} ${resumeBy[by]} continues.`
}

function modelLines(rows: readonly ModelRow[] | undefined): readonly string[] {
  return (rows ?? []).map((row, index) => `${index === 0 ? 'Models: ' : '      + '}${modelText(row)}`)
}

function modelText({ model, calls, inputTokens, outputTokens, costUsd, unknown, unpriced }: ModelRow): string {
  const cost = costUsd === undefined ? money(0, unknown, unpriced > 0) : spentText(costUsd, unknown)
  return `${parseModel(model).model} (${counted(calls, 'call')}, ${inputTokens} in / ${outputTokens} out, ${cost})`
}

/** `1 turn`, `2 turns`. */
function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`
}

/** A length of time: `51s`, `4m12s`, `2h05m`. */
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
  return cutText(collapsed(text), maxNoteChars, '...')
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`
}

/** An amount with four decimals; `at least` if calls of unknown cost are left out. */
function spentText(costUsd: number, unknownCalls: number): string {
  return `${unknownCalls > 0 ? 'at least ' : ''}$${costUsd.toFixed(4)}`
}
