import { hasWord, type QuestionWord } from './question-words.ts'
import { weightOf } from './best-places.ts'

/** Lines of a file, word for word. */
export interface Quote {
  readonly path: string
  readonly first: number
  readonly lines: readonly string[]
}

const maxQuotedLines = 5

interface Line {
  readonly number: number
  readonly text: string
}

/**
 * Of a piece that `read_file` gave, the few lines in which most words meet: within one paragraph, the shortest such run,
 * the first one among equals, and then up to where its sentence begins and ends. Without words, the first lines.
 * `undefined` if nothing was read.
 */
export function bestQuote(path: string, piece: string, weights: ReadonlyMap<QuestionWord, number>): Quote | undefined {
  const lines = numberedLines(piece)
  const runs = lines.flatMap((_, from) => runsFrom(lines, from, weights))
  const best = runs.reduce<Run | undefined>((one, other) => (one && one.value >= other.value ? one : other), undefined)
  if (best === undefined) return undefined
  const quoted = sentenceAround(lines, best)
  return { path, first: quoted[0]?.number ?? 1, lines: quoted.map(({ text }) => text) }
}

/** The lines by number; the notes behind them are none. */
function numberedLines(piece: string): Line[] {
  return piece.split('\n').flatMap((row) => {
    const [, number, text = ''] = /^(\d+)\t(.*)$/.exec(row) ?? []
    return number === undefined ? [] : [{ number: Number(number), text }]
  })
}

interface Run {
  readonly from: number
  readonly to: number
  readonly value: number
}

/**
 * The runs of a paragraph that begin with this line, each with what its words weigh, a little less for every line, and
 * less still for a heading, which only names what follows.
 */
function runsFrom(lines: readonly Line[], from: number, weights: ReadonlyMap<QuestionWord, number>): Run[] {
  const runs: Run[] = []
  const found = new Set<QuestionWord>()
  for (const [offset, { text }] of lines.slice(from, from + maxQuotedLines).entries()) {
    if (text.trim() === '') break
    for (const word of weights.keys()) if (hasWord(text, word)) found.add(word)
    const cost = offset / 100 + (isHeading(lines[from]) ? 1 / 10 : 0)
    runs.push({ from, to: from + offset, value: weightOf(found, weights) - cost })
  }
  return runs
}

function sentenceAround(lines: readonly Line[], run: Run): Line[] {
  let { from, to } = run
  const hasRoom = (): boolean => to - from + 1 < maxQuotedLines
  while (hasRoom() && isOpen(lines[from - 1]) && !isHeading(lines[from - 1])) from--
  while (hasRoom() && isOpen(lines[to]) && (lines[to + 1]?.text.trim() ?? '') !== '') to++
  return lines.slice(from, to + 1)
}

/** Whether a sentence goes on behind this line. */
function isOpen(line: Line | undefined): boolean {
  return line !== undefined && line.text.trim() !== '' && !/[.!?;{}]\W*$/.test(line.text)
}

function isHeading(line: Line | undefined): boolean {
  return line !== undefined && /^#+ /.test(line.text)
}

/** The quotes that stand in a text, in the form of `quoteText`. */
export function readQuotes(text: string): Quote[] {
  const quotes: { path: string; first: number; lines: string[] }[] = []
  let open: { path: string; first: number; lines: string[] } | undefined
  for (const row of text.split('\n')) {
    const [, path, first] = /^(\S.*?):(\d+)(?:-\d+)?$/.exec(row) ?? []
    if (open !== undefined && /^>(?: |$)/.test(row)) {
      if (open.lines.push(row.slice(2)) === 1) quotes.push(open)
    } else open = path === undefined ? undefined : { path, first: Number(first), lines: [] }
  }
  return quotes
}

/** The last line that is quoted. */
export function lastLineOf({ first, lines }: Quote): number {
  return first + lines.length - 1
}

/** `path:first-last` and the lines under it, as every model is told to quote. */
export function quoteText(quote: Quote): string {
  const { path, first, lines } = quote
  const last = lastLineOf(quote)
  const place = first === last ? `${path}:${first}` : `${path}:${first}-${last}`
  return [place, ...lines.map((line) => `> ${line}`)].join('\n')
}
