import headless from '@xterm/headless'

/** How wide and how high the terminal is, in characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

const cell = { width: 8.4, height: 18 } as const
const margin = 16
const colours = {
  background: '#16181d',
  text: '#d7dae0',
  /** The 16 colours of a terminal: dark and bright black, red, green, yellow, blue, magenta, cyan, white. */
  palette:
    '#3b4048 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #abb2bf #7f848e #f28b94 #b5e890 #f5d58a #82c4ff #dd96f0 #7fdbe6 #ffffff'.split(
      ' ',
    ),
} as const

/** The screen of a terminal behind what was written to it, as SVG. */
export async function terminalPicture(written: string, { columns, rows }: TerminalSize): Promise<string> {
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true })
  await new Promise<void>((resolve) => terminal.write(written, resolve))
  const buffer = terminal.buffer.active
  const lines = Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.viewportY + row)
    return line === undefined ? '' : lineOf(line, row)
  }).filter((line) => line !== '')
  const used = Math.max(...lines.map((line) => Number(/ y="([\d.]+)"/.exec(line)?.[1] ?? 0)))
  const width = Math.round(columns * cell.width + 2 * margin)
  const height = Math.round(used + margin + 4)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<rect width="100%" height="100%" rx="8" fill="${colours.background}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${colours.text}" xml:space="preserve">
${lines.join('\n')}
</g>
</svg>
`
}

type Line = NonNullable<ReturnType<InstanceType<typeof headless.Terminal>['buffer']['active']['getLine']>>
type Cell = NonNullable<ReturnType<Line['getCell']>>

function lineOf(line: Line, row: number): string {
  const runs: { readonly style: string; readonly column: number; text: string }[] = []
  for (let column = 0; column < line.length; column++) {
    const found = line.getCell(column)
    if (found === undefined || found.getWidth() === 0) continue
    const style = styleOf(found)
    const last = runs.at(-1)
    if (last?.style === style) last.text += found.getChars() || ' '
    else runs.push({ style, column, text: found.getChars() || ' ' })
  }
  const shown = runs.filter(({ text }) => text.trim() !== '')
  if (shown.length === 0) return ''
  const y = margin + (row + 0.8) * cell.height
  const spans = shown.map(({ column, style, text }) => {
    const blanks = text.length - text.trimStart().length
    const x = (margin + (column + blanks) * cell.width).toFixed(1)
    return `<tspan x="${x}"${style}>${escaped(text.trim())}</tspan>`
  })
  return `<text y="${y.toFixed(1)}">${spans.join('')}</text>`
}

function styleOf(found: Cell): string {
  const colour = found.isFgPalette() ? colours.palette[found.getFgColor()] : undefined
  return [
    colour === undefined ? '' : ` fill="${colour}"`,
    found.isBold() ? ' font-weight="bold"' : '',
    found.isDim() ? ' opacity="0.6"' : '',
    found.isItalic() ? ' font-style="italic"' : '',
  ].join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
