import { styleText } from 'node:util'
import { isWithin, readable, type Row } from './row.ts'

const headings = ['figure', 'value', 'unit', 'limit', '', 'against']
/** Columns that are aligned to the right. */
const numeric = new Set([1, 3])
const colours = { ok: 'green', over: 'red', '': 'reset' } as const

/** Figures in columns, a line each under a line of headings. Coloured where standard output is a terminal. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map(cellsOf)
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...lines.map((cells) => cells[column]?.length ?? 0)),
  )
  const aligned = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => pad(cell, widths[column] ?? 0, numeric.has(column)))
      .join('  ')
      .trimEnd()
  const coloured = rows.map((row, line) => styleText(colours[verdict(row)], aligned(lines[line] ?? [])))
  return [styleText('bold', aligned(headings)), ...coloured].join('\n')
}

function cellsOf(row: Row): string[] {
  const { name, value, unit, limit, atLeast = false, against = '' } = row
  const bound = limit === undefined ? '' : `${atLeast ? '≥' : '≤'} ${readable(limit)}`
  return [name, readable(value), unit, bound, verdict(row), against]
}

function verdict(row: Row): keyof typeof colours {
  const within = isWithin(row)
  return within === undefined ? '' : within ? 'ok' : 'over'
}

function pad(cell: string, width: number, isNumeric: boolean): string {
  return isNumeric ? cell.padStart(width) : cell.padEnd(width)
}
