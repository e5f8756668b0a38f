import stringWidth from 'string-width'

/** Rows as lines, their cells below each other, two blanks between them. All rows have as many cells. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
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
