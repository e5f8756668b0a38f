/** Words that say nothing about what a question is about. */
const stopWords = new Set(
  `about after all also and another any are before been but can could describe did does each every explain file files find
  folder for from get gets give had happen happened happening happens has have her his how into its like list long make makes
  many may mean means might much must not one our out over own please project say says she should show some tell than that
  the their them then there these they this those use used using was were what when where which while who whose why will
  with work works would you your`.split(/\s+/),
)
/** Most words that are searched for. */
const maxWords = 6
/** Words on lines that are this close count together. */
const reachLines = 3
/** Longer lines are data, not text. */
const maxLineChars = 400

/** The words of a question that are worth a search, in order; of several forms of a word, the first. */
export function questionWords(question: string): string[] {
  const words = new Map<string, string>()
  for (const [token] of question.matchAll(/[\p{L}\p{N}_]+/gu)) {
    const word = token.toLowerCase()
    if (stopWords.has(word) || /^\w{1,2}$/.test(word)) continue
    const pattern = wordPattern(word)
    if (!words.has(pattern)) words.set(pattern, word)
  }
  return [...words.values()].slice(0, maxWords)
}

/** A regular expression for the forms of a word: `killed` finds `kill` and `killing`. English only. */
export function wordPattern(word: string): string {
  const bare = /^(.{3,}?)(?:ing|ed|ies|(?<=[sxz]|[cs]h)es|(?<!s)s)$/.exec(word)?.[1] ?? word
  const stem = bare !== word && /([bdgmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare
  return /^\w/.test(stem) ? String.raw`\b${stem}` : stem
}

/** Those of the words that a text has. */
export function wordsIn(text: string, words: readonly string[]): string[] {
  return words.filter((word) => new RegExp(wordPattern(word), 'iu').test(text))
}

/** What each word counts: the rarer, the more. */
export type Weights = ReadonlyMap<string, number>

export function weightsOf(texts: readonly string[], words: readonly string[]): Weights {
  const counts = words.map((word) => [word, texts.filter((text) => wordsIn(text, [word]).length > 0).length] as const)
  return new Map(counts.flatMap(([word, count]) => (count === 0 ? [] : [[word, Math.log(1 + texts.length / count)]])))
}

/** What the words of a text count together. */
export function weightOf(text: string, weights: Weights): number {
  return wordsIn(text, [...weights.keys()]).reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
}

/** A line that a search found. */
export interface Hit {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** The lines that searches found, each once. */
export function hitsIn(searches: readonly { readonly text: string }[]): Hit[] {
  const rows = new Set(searches.flatMap(({ text }) => text.split('\n')))
  return [...rows].flatMap((row) => {
    const [, path, line, text = ''] = /^(.+?):(\d+): (.*)$/.exec(row) ?? []
    return path === undefined || text.length > maxLineChars ? [] : [{ path, line: Number(line), text }]
  })
}

/** The best line of each file, where most words meet; best files first. */
export function bestHits(hits: readonly Hit[], weights: Weights, maxHits: number): Hit[] {
  const best = [...Map.groupBy(hits, ({ path }) => path).values()].flatMap((ofFile) => {
    const scored = ofFile.map((hit) => {
      const near = ofFile.filter(({ line }) => Math.abs(line - hit.line) <= reachLines)
      const score = weightOf(near.map(({ text }) => text).join('\n'), weights) + weightOf(hit.text, weights) / 2
      return { hit, score: score * pathWeight(hit.path) }
    })
    return scored.toSorted((a, b) => b.score - a.score || a.hit.line - b.hit.line).slice(0, 1)
  })
  const order = best.toSorted((a, b) => b.score - a.score || (a.hit.path < b.hit.path ? -1 : 1))
  return order.slice(0, maxHits).map(({ hit }) => hit)
}

/** Prose counts more than code, and code more than generated files. */
export function pathWeight(path: string): number {
  if (/\.(?:md|mdx|txt|rst|adoc)$/i.test(path)) return 1.25
  return /(?:^|[/.-])lock\b|\.(?:map|min\.\w+|svg|csv|jsonl)$/i.test(path) ? 1 / 5 : 1
}
