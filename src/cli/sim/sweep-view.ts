import stringWidth from 'string-width'
import { durationText, many, numberText } from '../terminal/amounts.ts'
import { type Output, Screen, type Span, type StyledLine } from '../terminal/screen.ts'
import { faultsIn } from './seed-ranges.ts'
import type { StorySweep } from './sweep-story.ts'

/** At most one redraw of a terminal, or one plain line, in this time. */
const redrawMs = 100
const plainMs = 5_000
const barColumns = [10, 32] as const
const hourMs = 3_600_000
const dayMs = 24 * hourMs

export interface SweepBeginning {
  readonly story: string
  readonly seeds: number
  readonly from: number
  readonly jobs: number
}

/** Shows the progress of a sweep: a changing line on a terminal, else a line now and then. */
export class SweepView {
  readonly #screen: Screen
  #shownMs = -Infinity
  readonly #now: () => number

  constructor(out: Output, { isDumb, now = () => performance.now() }: { isDumb: boolean; now?: () => number }) {
    this.#screen = new Screen(out, { isDumb })
    this.#now = now
  }

  /** Announces a story, except on a terminal, which shows progress at once. */
  begin({ story, seeds, from, jobs }: SweepBeginning): void {
    if (this.#screen.isLive) return
    this.#screen.text(`${nameOf({ story })} · ${many(seeds, 'seed')} from ${from} · ${many(jobs, 'job')}`)
    this.#shownMs = this.#now()
  }

  tell(sweep: StorySweep): void {
    const now = this.#now()
    const isDue = now - this.#shownMs >= (this.#screen.isLive ? redrawMs : plainMs)
    if (!isDue && sweep.doing === undefined) return
    this.#shownMs = now
    if (this.#screen.isLive) this.#screen.live([this.#line(sweep)])
    else if (isDue) this.#screen.text([nameOf(sweep), ...factsOf(sweep).map(({ text }) => text)].join(' · '))
  }

  end(lines: readonly StyledLine[]): void {
    this.#screen.live([])
    this.#screen.lines(lines)
    this.#screen.gap()
  }

  #line(sweep: StorySweep): StyledLine {
    const facts = factsOf(sweep).flatMap((fact, index): Span[] => [{ text: index === 0 ? '  ' : ' · ' }, fact])
    const name = nameOf(sweep)
    const texts = [name, ...facts.map(({ text }) => text)].join('')
    const room = this.#screen.columns - stringWidth(texts) - 4
    const columns = Math.min(barColumns[1], Math.max(barColumns[0], room))
    const full = Math.floor((columns * sweep.tally.runs) / sweep.seeds)
    return [
      { text: `${name} `, style: 'bold' },
      { text: '━'.repeat(full), style: sweep.tally.failures > 0 ? 'red' : 'green' },
      { text: '─'.repeat(columns - full), style: 'dim' },
      ...facts,
    ]
  }
}

function nameOf({ story }: Pick<StorySweep, 'story'>): string {
  return story === '' ? 'sim' : story
}

/** The most important first: the line is truncated at the right. */
function factsOf({ tally, seeds, realMs, doing }: StorySweep): Span[] {
  const { runs, failures } = tally
  const aSecond = realMs > 0 ? (runs / realMs) * 1_000 : 0
  const leftMs = aSecond > 0 ? ((seeds - runs) / aSecond) * 1_000 : undefined
  return [
    { text: `${numberText(runs)} of ${many(seeds, 'seed')}` },
    {
      text: failures === 0 ? 'none failed' : `${numberText(failures)} failed`,
      style: failures === 0 ? undefined : 'red',
    },
    { text: `${rateText(aSecond)} a second` },
    { text: many(faultsIn(tally), 'fault') },
    doing !== undefined
      ? { text: doing, style: 'yellow' }
      : { text: leftMs === undefined ? 'begins' : `${durationText(leftMs)} left`, style: 'dim' },
  ]
}

/** `305`, or `4.2` for low rates. */
function rateText(aSecond: number): string {
  return aSecond >= 20 || aSecond === 0 ? numberText(Math.round(aSecond)) : aSecond.toFixed(1)
}

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
