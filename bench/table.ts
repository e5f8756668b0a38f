import { styleText } from 'node:util'
import { isWithin, readable, type Row } from './row.ts'

/** Figures in columns, a line each under a line of headings. Coloured where standard output is a terminal. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => ({ row, cells: cellsOf(row) }))
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...lines.map(({ cells }) => cells[column]?.length ?? 0)),
  )
  const aligned = (cells: readonly string[]): string =>
    cells.map((cell, column) => pad(cell, column, widths[column] as number)).join('  ').trimEnd()
  const colour = (row: Row): 'green' | 'red' | 'reset' => ({ ok: 'green', over: 'red', '': 'reset' } as const)[verdict(row)]
  return [styleText('bold', aligned(headings)), ...lines.map(({ row, cells }) => styleText(colour(row), aligned(cells)))].join('\n')
}

const headings = ['figure', 'value', 'unit', 'limit', '', 'against']
const numberColumns = [1, 3]

function cellsOf(row: Row): string[] {
  const { name, value, unit, limit, atLeast = false, against = '' } = row
  const bound = limit === undefined ? '' : `${atLeast ? '≥' : '≤'} ${readable(limit)}`
  return [name, readable(value), unit, bound, verdict(row), against]
}

function verdict(row: Row): 'ok' | 'over' | '' {
  const within = isWithin(row)
  return within === undefined ? '' : within ? 'ok' : 'over'
}

function pad(cell: string, column: number, width: number): string {
  return numberColumns.includes(column) ? cell.padStart(width) : cell.padEnd(width)
}
