import { hasWord, type QuestionWord } from './question-words.ts'
import { weightOf } from './best-places.ts'

/** Lines of a file, word for word. */
export interface Quote {
  readonly path: string
  readonly first: number
  readonly lines: readonly string[]
}

const maxQuotedLines = 4

/** The lines of a result of `read_file`, by number; notes and a line that was cut are left out. */
function numberedLines(result: string): { readonly number: number; readonly text: string }[] {
  return result.split('\n').flatMap((row) => {
    const [, number, text = ''] = /^(\d+)\t(.*)$/.exec(row) ?? []
    return number === undefined ? [] : [{ number: Number(number), text }]
  })
}

/**
 * The few lines of a read piece in which most words meet: within one paragraph, the shortest such run, the first one
 * among equals. Without words, the first paragraph. `undefined` if nothing was read.
 */
export function bestQuote(
  path: string,
  result: string,
  weights: ReadonlyMap<QuestionWord, number>,
): Quote | undefined {
  const lines = numberedLines(result)
  let best: { readonly value: number; readonly from: number; readonly to: number } | undefined
  for (const [from, { text }] of lines.entries()) {
    if (text.trim() === '') continue
    const found = new Set<QuestionWord>()
    for (let to = from; to < Math.min(from + maxQuotedLines, lines.length); to++) {
      const line = lines[to]?.text ?? ''
      if (line.trim() === '') break
      for (const word of weights.keys()) if (hasWord(line, word)) found.add(word)
      const value = weightOf(found, weights) - (to - from) / 100
      if (best === undefined || value > best.value) best = { value, from, to }
    }
  }
  if (best === undefined) return undefined
  const { from, to } = weights.size === 0 ? { from: best.from, to: endOfParagraph(lines, best.from) } : best
  const quoted = lines.slice(from, to + 1)
  return { path, first: quoted[0]?.number ?? 1, lines: quoted.map(({ text }) => text) }
}

function endOfParagraph(lines: readonly { readonly text: string }[], from: number): number {
  let to = from
  while (to + 1 < Math.min(lines.length, from + maxQuotedLines) && lines[to + 1]?.text.trim() !== '') to++
  return to
}

/** `path:first-last` and the lines under it, as every model is told to quote. */
export function quoteText({ path, first, lines }: Quote): string {
  const last = first + lines.length - 1
  const place = first === last ? `${path}:${first}` : `${path}:${first}-${last}`
  return [place, ...lines.map((line) => `> ${line}`)].join('\n')
}
