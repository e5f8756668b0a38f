import { indexedWords } from '../search-words.ts'

/** Postgres counts no place behind this one. */
const maxPlaces = 16_383
/** Of one word, and of all words of one line: Postgres takes 2,046 bytes, and a megabyte. */
const maxWordUnits = 500
const maxLineBytes = 500_000

/** A text as Postgres's index holds it. */
export interface IndexedText {
  /** A `tsvector`: each word with its places. */
  readonly words: string
  /** How many words there are. */
  readonly length: number
}

/** The word by which all lines of a transcript are found; no text has it. */
export function markOf(transcript: number): string {
  return `/${transcript}`
}

/** Words behind the first half megabyte of a line are not found. */
export function indexed(text: string, transcript: number): IndexedText {
  const places = new Map<string, number[]>()
  let length = 0
  let bytes = 0
  for (const [word] of indexedWords(text).matchAll(/[\p{L}\p{M}\p{N}\p{Co}]+/gu)) {
    const lexeme = folded(word)
    if (lexeme === '') continue
    length++
    if (length > maxPlaces) continue
    const known = places.get(lexeme)
    // Postgres keeps 255 places of a word.
    if (known !== undefined && known.length < 255) known.push(length)
    bytes += known === undefined ? Buffer.byteLength(lexeme) + 8 : 2
    if (known === undefined && bytes < maxLineBytes) places.set(lexeme, [length])
  }
  const entries = [...places].map(([lexeme, at]) => `'${lexeme}':${at.join(',')}`)
  return { words: [`'${markOf(transcript)}'`, ...entries].join(' '), length }
}

/** A word of a query, or two with a blank between them that stand side by side, as the lexemes that the index has. */
export function lexemesOf(word: string): readonly string[] {
  return word
    .split(' ')
    .map(folded)
    .filter((lexeme) => lexeme !== '')
}

/** A `tsquery` for lexemes that stand side by side. */
export function queryOf(lexemes: readonly string[]): string {
  return lexemes.map((lexeme) => `'${lexeme}'`).join(' <-> ')
}

/** Without case and accents. Marks of other scripts, such as vowel signs, make another word. */
function folded(word: string): string {
  const plain = word
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
  return plain.normalize('NFC').slice(0, maxWordUnits).toWellFormed()
}

/** How often each phrase of a query is in a line. */
export interface Candidate {
  readonly key: string
  readonly index: number
  readonly length: number
  readonly counts: readonly number[]
}

export interface Frequencies {
  /** Lines that can be found, in all transcripts of the root. */
  readonly lines: number
  readonly averageLength: number
  /** Lines that each phrase is in. */
  readonly linesWith: readonly number[]
}

/** How soon more of the same word counts less, and how much long lines do: as FTS5 has them. */
const saturation = 1.2
const lengthWeight = 0.75
/** A word that is in most lines still counts for something. */
const leastWeight = 1e-6

/** The best first, ties by key and place: the formula of SQLite's FTS5 (BM25), so that all stores rank alike. */
export function ranked(candidates: readonly Candidate[], all: Frequencies): readonly Candidate[] {
  const weights = all.linesWith.map((count) => {
    const weight = Math.log((all.lines - count + 0.5) / (count + 0.5))
    return weight <= 0 ? leastWeight : weight
  })
  const scored = candidates.map((candidate) => {
    const long = 1 - lengthWeight + (lengthWeight * candidate.length) / Math.max(1, all.averageLength)
    const score = candidate.counts.reduce(
      (sum, count, phrase) => sum + ((weights[phrase] ?? 0) * count * (saturation + 1)) / (count + saturation * long),
      0,
    )
    return { candidate, score }
  })
  return scored
    .sort(
      (a, b) =>
        b.score - a.score ||
        (a.candidate.key < b.candidate.key ? -1 : a.candidate.key > b.candidate.key ? 1 : 0) ||
        a.candidate.index - b.candidate.index,
    )
    .map(({ candidate }) => candidate)
}

/** How often lexemes stand side by side, by the places of each. */
export function countOf(places: readonly (readonly number[])[]): number {
  const [first = [], ...others] = places
  if (others.length === 0) return first.length
  const sets = others.map((own) => new Set(own))
  return first.filter((place) => sets.every((own, index) => own.has(place + index + 1))).length
}
