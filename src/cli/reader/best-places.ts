import type { QuestionWord } from './question-words.ts'

/** A line that was found, and the words that it was found by. */
export interface Hit {
  readonly path: string
  readonly line: number
  readonly text: string
  readonly words: ReadonlySet<QuestionWord>
}

/** A line around which many words of a question meet. */
export interface Place {
  readonly path: string
  readonly line: number
  readonly score: number
}

/** Words this many lines apart belong together. */
const reachLines = 3
/** Two places of one file are at least so far apart. */
const apartLines = 20
const maxPlacesPerFile = 2
/** Longer lines are data and not text. */
const maxTextChars = 400

/** The hits of several searches by line, each with the words that found it. */
export function mergedHits(searches: readonly { readonly word: QuestionWord; readonly text: string }[]): Hit[] {
  const hits = new Map<string, Hit & { readonly words: Set<QuestionWord> }>()
  for (const { word, text } of searches) {
    for (const row of text.split('\n')) {
      const [, path, line, found = ''] = /^(.+?):(\d+): (.*)$/.exec(row) ?? []
      if (path === undefined || found.length > maxTextChars) continue
      const key = `${path}:${line}`
      const hit = hits.get(key) ?? { path, line: Number(line), text: found, words: new Set() }
      hits.set(key, hit)
      hit.words.add(word)
    }
  }
  return [...hits.values()]
}

/** What a word says: the rarer, the more. */
export function wordWeights(hits: readonly Hit[]): ReadonlyMap<QuestionWord, number> {
  const counts = new Map<QuestionWord, number>()
  for (const { words } of hits) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return new Map([...counts].map(([word, count]) => [word, Math.log(1 + hits.length / count)]))
}

/** The places where most words meet, best first, at most so many. */
export function bestPlaces(hits: readonly Hit[], maxPlaces: number): Place[] {
  const weights = wordWeights(hits)
  const byFile = Map.groupBy(hits, ({ path }) => path)
  const all = [...byFile].flatMap(([path, ofFile]) =>
    ofFile.map((hit) => ({ path, line: hit.line, score: scoreOf(hit, ofFile, weights) })),
  )
  all.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line))
  const best: Place[] = []
  for (const place of all) {
    if (best.length === maxPlaces) break
    const sameFile = best.filter(({ path }) => path === place.path)
    const isNear = sameFile.some(({ line }) => Math.abs(line - place.line) < apartLines)
    if (!isNear && sameFile.length < maxPlacesPerFile) best.push(place)
  }
  return best
}

/** What the words in and around a line weigh; those in the line itself more. */
function scoreOf(hit: Hit, ofFile: readonly Hit[], weights: ReadonlyMap<QuestionWord, number>): number {
  const near = new Set<QuestionWord>()
  for (const { line, words } of ofFile) {
    if (Math.abs(line - hit.line) <= reachLines) for (const word of words) near.add(word)
  }
  return (weightOf(near, weights) + weightOf(hit.words, weights) / 2) * pathWeight(hit.path)
}

/** What the kind of a file says: prose more than code, and code more than data. */
export function pathWeight(path: string): number {
  if (/\.(?:md|mdx|txt|rst|adoc)$/i.test(path)) return 1.25
  return isGenerated(path) ? 1 / 5 : 1
}

/** What some words weigh together. */
export function weightOf(words: Iterable<QuestionWord>, weights: ReadonlyMap<QuestionWord, number>): number {
  let sum = 0
  for (const word of words) sum += weights.get(word) ?? 0
  return sum
}

/** What programs wrote for programs. */
function isGenerated(path: string): boolean {
  return /(?:^|[/.-])lock\b|\.(?:map|min\.\w+|svg|csv|jsonl)$/i.test(path)
}
