/** How far a run is, and what has come of it. */
export interface Progress {
  readonly answered: number
  readonly of: number
  readonly wrong: number
  readonly workers: number
  readonly killed: number
  readonly seconds: number
}

const barWidth = 30

/** One line that changes, where somebody looks at it. */
export function showProgress({ answered, killed, of, seconds, workers, wrong }: Progress): void {
  if (!process.stderr.isTTY) return
  const full = Math.round((barWidth * answered) / of)
  const bar = '█'.repeat(full) + '░'.repeat(barWidth - full)
  const counts = [`${answered} of ${of} answered`, `${wrong} wrong`, `${workers} workers`, `${killed} killed`]
  process.stderr.write(`\r\u001B[K${bar} ${counts.join(' · ')} · ${seconds} s${answered === of ? '\n' : ''}`)
}

/** Lines of a name and its value each, one below the other. */
export function table(rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** The value that so many of a hundred do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil((values.length * percent) / 100) - 1] ?? 0
}
