import { durationText, many, numberText } from '../terminal/amounts.ts'
import type { Span, StyledLine } from '../terminal/screen.ts'
import type { StorySweep } from './sweep-story.ts'
import { nameOf, rateText } from './sweep-view.ts'
import { faultsIn } from './tally.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** A table of what a sweep has come to. */
export function sweepSummary(
  sweep: StorySweep,
  { from, jobs, laws }: { readonly from: number; readonly jobs: number; readonly laws: number },
): StyledLine[] {
  const { tally, seeds, realMs, isStopped } = sweep
  const { runs, failures, ticks, crashes, checks, virtualMs, failed } = tally
  const end = failures > 0 ? 'failed' : isStopped ? 'stopped' : 'passed'
  const style = { failed: 'red', stopped: 'yellow', passed: 'green' } as const
  const missing = runs < seeds ? `, of ${numberText(seeds)} that were asked for` : ''
  const rows: [string, string][] = [
    ['seeds', `${many(runs, 'run')} from ${from}${missing}`],
    [
      'speed',
      `${rateText((runs / Math.max(realMs, 1)) * 1_000)} a second, ${durationText(realMs)}, ${many(jobs, 'job')}`,
    ],
    ['ticks', numberText(ticks)],
    ['world time', longText(virtualMs)],
    ['crashes', numberText(crashes)],
    ['laws checked', `${many(checks, 'time')}, ${many(laws, 'law')}`],
    ...faultRows(sweep),
  ]
  if (failures > 0) rows.push(['failed seeds', failedText(failed, failures)])
  const width = Math.max(...rows.map(([name]) => name.length))
  const line = ([name, text]: readonly [string, string]): StyledLine => [
    { text: `  ${name.padEnd(width)}  `, style: 'dim' },
    { text },
  ]
  const head: Span[] = [
    { text: nameOf(sweep), style: 'bold' },
    { text: ' ' },
    { text: end, style: ['bold', style[end]] },
  ]
  return [head, ...rows.map(line)]
}

function faultRows({ tally }: StorySweep): [string, string][] {
  const entries = Object.entries(tally.faults).toSorted(([, one], [, other]) => other - one)
  const rows = entries.map(([name, count]): [string, string] => [`  ${name}`, numberText(count)])
  return [['faults', numberText(faultsIn(tally))], ...rows]
}

function failedText(failed: readonly number[], failures: number): string {
  const shown = failed.slice(0, 20)
  const rest = failures - shown.length
  return `${shown.join(', ')}${rest > 0 ? ` and ${numberText(rest)} more` : ''}`
}

/** Simulated time adds up to years. */
function longText(durationMs: number): string {
  if (durationMs < hourMs) return durationText(durationMs)
  if (durationMs < 2 * dayMs) return `${(durationMs / hourMs).toFixed(1)} hours`
  return `${numberText(Math.round(durationMs / dayMs))} days`
}
