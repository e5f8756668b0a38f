import type { Question } from '../question-prompt.ts'
import type { AnsweredCall } from './answered-calls.ts'
import { type Hit, pathWeight, weightOf, wordWeights } from './best-places.ts'
import { readFindings, searchedText } from './findings.ts'
import type { Launched } from './launched-sessions.ts'
import { listed } from './phrases.ts'
import { hasWord, questionWords } from './question-words.ts'
import { lastLineOf, type Quote, quoteText, readQuotes } from './quote.ts'

const maxQuotes = 5

/** A quote, and the researcher who found it. */
export interface FoundQuote {
  readonly quote: Quote
  readonly session: Launched
}

/** What the researchers quoted, best first: where most words of the question meet, the rarer the better. */
export function bestQuotes({ text }: Question, sessions: readonly Launched[]): FoundQuote[] {
  const found = sessions.flatMap((session) => readQuotes(session.result ?? '').map((quote) => ({ quote, session })))
  const words = questionWords(text)
  const hits = found.map(({ quote: { path, first, lines } }): Hit => {
    const whole = lines.join('\n')
    return { path, line: first, text: whole, words: new Set(words.filter((word) => hasWord(whole, word))) }
  })
  const weights = wordWeights(hits)
  const scores = hits.map((hit) => weightOf(hit.words, weights) * pathWeight(hit.path))
  const order = [...found.keys()].toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b)
  return order.flatMap((index) => found[index] ?? [])
}

/** What the lead without a model reports: the best quotes, what follows the best one, and how far was looked. */
export function reportText(question: Question, sessions: readonly Launched[], calls: readonly AnsweredCall[]): string {
  const best = bestQuotes(question, sessions).map(({ quote }) => quote)
  const reply = calls.find(({ name, isError }) => name === 'query_subagent' && !isError)
  const [first, ...others] = best
  const quotes = apart([...(first === undefined ? [] : [first]), ...readQuotes(reply?.text ?? ''), ...others])
  const all = findingsOf(sessions)
  const words = questionWords(question.text).map(({ word }) => word)
  const found = words.filter((word) => all.found.includes(word))
  const missing = words.filter((word) => !found.includes(word))
  const where = question.places.length === 0 ? 'the folder' : listed(question.places)
  const lost = sessions.flatMap(lostText)
  if (all.files === 0 && lost.length > 0) return ['Nothing could be searched.', ...lost].join(' ')
  if (quotes.length === 0) return [whyNothing(where, words, found), `${searchedText(all)}.`, ...lost].join(' ')
  const lead = words.length === 0 ? `This is how ${where} begins:` : `This is where most is said of ${listed(found)}:`
  const gap = missing.length === 0 ? [] : [`No line has ${listed(missing, 'or')}.`]
  const honest = 'I am a script: I find and quote; what follows from it is yours to judge.'
  const closing = [`${searchedText(all)}.`, ...gap, ...lost, honest].join(' ')
  return [lead, ...quotes.slice(0, maxQuotes).map(quoteText), closing].join('\n\n')
}

function findingsOf(sessions: readonly Launched[]) {
  const each = sessions.flatMap(({ summary = '' }) => readFindings(summary) ?? [])
  return {
    files: each.reduce((sum, { files }) => sum + files, 0),
    places: each.reduce((sum, { places }) => sum + places, 0),
    found: each.flatMap(({ found }) => found),
  }
}

/** Without those that have lines in common with one before. */
function apart(quotes: readonly Quote[]): Quote[] {
  return quotes.filter((quote, index) => !quotes.slice(0, index).some((other) => overlap(quote, other)))
}

function overlap(one: Quote, other: Quote): boolean {
  return one.path === other.path && one.first <= lastLineOf(other) && other.first <= lastLineOf(one)
}

function whyNothing(where: string, words: readonly string[], found: readonly string[]): string {
  if (words.length === 0) return `Nothing in ${where} can be read as text.`
  if (found.length === 0) return `No line of ${where} has ${listed(words, 'or')}.`
  return 'The words stand in the files, but the places could not be read.'
}

/** What is to be said of a researcher who found nothing that can be used; empty if all is well. */
function lostText({ part, problem, summary }: Launched): string[] {
  const why = problem ?? (summary === undefined ? 'nobody came back' : readFindings(summary) === undefined && summary)
  if (why === false) return []
  const where = part.length === 0 ? 'the folder' : listed(part)
  return [`Of ${where} there is nothing: ${why.replace(/[.\s]*$/, '.')}`]
}
