import { type Weights, weightOf } from './search.ts'

/** Lines of a file, word for word. */
export interface Quote {
  readonly path: string
  readonly first: number
  readonly lines: readonly string[]
}

const maxLines = 5

/**
 * Of a piece that `read_file` gave, the lines of one paragraph that have most of the words; without words, the first
 * lines that are no heading. `undefined` if nothing was read.
 */
export function bestQuote(path: string, piece: string, weights: Weights): Quote | undefined {
  const lines = piece.split('\n').flatMap((row) => {
    const [, number, text = ''] = /^(\d+)\t(.*)$/.exec(row) ?? []
    return number === undefined ? [] : [{ number: Number(number), text }]
  })
  let best: { readonly quote: Quote; readonly score: number } | undefined
  for (const [index, { number, text }] of lines.entries()) {
    if (text.trim() === '') continue
    const following = lines.slice(index, index + maxLines).map((line) => line.text)
    const end = following.findIndex((line) => line.trim() === '')
    const quote = { path, first: number, lines: end < 0 ? following : following.slice(0, end) }
    // A heading only names what follows.
    const score = weightOf(quote.lines.join('\n'), weights) - (text.startsWith('#') ? 1 / 10 : 0)
    if (best === undefined || score > best.score) best = { quote, score }
  }
  return best?.quote
}

/** `path:first-last`, and the lines below it: the form that the system prompts ask for. */
export function quoteText(quote: Quote): string {
  const { path, first, lines } = quote
  const last = lastLineOf(quote)
  const place = first === last ? `${path}:${first}` : `${path}:${first}-${last}`
  return [place, ...lines.map((line) => `> ${line}`)].join('\n')
}

/** The quotes in a text. */
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

export function lastLineOf({ first, lines }: Quote): number {
  return first + lines.length - 1
}

/** Without those that share a line with an earlier one. */
export function distinct(quotes: readonly Quote[]): Quote[] {
  const overlap = (one: Quote, other: Quote): boolean =>
    one.path === other.path && one.first <= lastLineOf(other) && other.first <= lastLineOf(one)
  return quotes.filter((quote, index) => !quotes.slice(0, index).some((other) => overlap(quote, other)))
}
