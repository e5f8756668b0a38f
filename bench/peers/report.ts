import { difference, median, ratio } from '../measure.ts'
import { readable } from '../row.ts'
import { peers } from './peers.ts'
import { scenarios } from './scenarios.ts'

/** Microseconds of CPU, a figure a round, by scenario and by peer. */
export type Samples = ReadonlyMap<string, ReadonlyMap<string, number[]>>

/** What a peer takes in a scenario. */
export interface Figure {
  readonly scenario: string
  readonly peer: string
  readonly rounds: readonly number[]
  /** The median of the rounds. */
  readonly micros: number
  /** The median of how many times as much as Entia's it was in a round. Absent: Entia was not measured. */
  readonly overEntia?: number
  /** The median of how much more than that of the bare loop on the SDK it was in a round, in microseconds. */
  readonly overBareSdk?: number
}

export function figuresOf(samples: Samples): Figure[] {
  return [...samples].flatMap(([scenario, ofPeers]) => {
    const entia = ofPeers.get('entia')
    const bareSdk = ofPeers.get('bare-sdk')
    return [...ofPeers].map(([peer, rounds]) => ({
      scenario,
      peer,
      rounds,
      micros: median(rounds),
      ...(entia !== undefined && { overEntia: ratio({ work: rounds, against: entia }) }),
      ...(bareSdk !== undefined && { overBareSdk: difference({ work: rounds, against: bareSdk }) }),
    }))
  })
}

/** A table in Markdown: a column a peer, a row a scenario, and one more for what is measured over the bare loop. */
export function markdown(figures: readonly Figure[]): string {
  const columns = Object.keys(peers).filter((name) => figures.some(({ peer }) => peer === name))
  const rows = [...new Set(figures.map(({ scenario }) => scenario))].flatMap((name) => {
    const { title = name, per = 'run' } = scenarios[name] ?? {}
    const cells = (cell: (figure: Figure) => string | undefined): string[] =>
      columns.map((column) => {
        const figure = figures.find(({ scenario, peer }) => scenario === name && peer === column)
        return (figure && cell(figure)) ?? '—'
      })
    const isOver = figures.some(({ scenario, overBareSdk }) => scenario === name && overBareSdk !== undefined)
    const row = [`${title}: a ${per}`, ...cells(withRatio)]
    return isOver ? [row, [`… over the bare loop on \`openai\``, ...cells(withoutLoop)]] : [row]
  })
  const headings = ['CPU of', ...columns.map((column) => peers[column]?.title ?? column)]
  return [headings, ['---', ...columns.map(() => '---:')], ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function withRatio({ peer, micros, overEntia }: Figure): string {
  const figure = `${readable(micros)} µs`
  return overEntia === undefined || peer === 'entia' ? figure : `${figure} (${readable(overEntia)} ×)`
}

function withoutLoop({ peer, overBareSdk }: Figure): string | undefined {
  if (overBareSdk === undefined || peer.startsWith('bare-')) return undefined
  return `${overBareSdk < 0 ? '−' : '+'}${readable(Math.abs(overBareSdk))} µs`
}
