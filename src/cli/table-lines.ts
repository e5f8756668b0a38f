import stringWidth from 'string-width'
import { cleanName } from '../tools/files/clean-text.ts'

/** Rows as lines, their cells cleaned and below each other, two blanks between them. All rows have as many cells. */
export function tableLines(cells: readonly (readonly string[])[]): string[] {
  const rows = cells.map((row) => row.map(cleanName))
  const widths = (rows[0] ?? []).map((_, at) =>
    rows.reduce((most, row) => Math.max(most, stringWidth(row[at] ?? '')), 0),
  )
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - stringWidth(cell)))
      .join('  ')
      .trimEnd(),
  )
}
