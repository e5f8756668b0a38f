import { type ScriptedBehaviour, type ScriptedReply, textOf } from 'entia'
import { type AnsweredCall, answeredCalls, entriesOf, globOf, listed, many, maxListed } from './calls.ts'
import { type Question, readFollowUp, readQuestion } from './question.ts'
import { bestQuote, quoteText } from './quote.ts'
import { bestHits, type Hit, hitsIn, questionWords, weightsOf, wordPattern } from './search.ts'

const maxPlaces = 3
/** A place is read from a few lines above it. */
const linesAbove = 8
const linesRead = 24
const linesReadOn = 12

/**
 * A researcher without a model: lists the files of its part, searches them for the words of the question, reads where
 * most of them meet, and quotes that. It is a function of the request, so a restart changes nothing.
 */
export const researcher: ScriptedBehaviour = ({ messages }): ScriptedReply => {
  const asked = textOf(messages.findLast(({ role }) => role === 'user'))
  const calls = answeredCalls(messages)
  const followUp = readFollowUp(asked)
  if (followUp !== undefined) return readOn(followUp, calls)
  const question = readQuestion(asked)
  const words = questionWords(question.text)
  const listing = calls.find(({ name }) => name === 'list_files')
  if (listing === undefined) return list(question)
  if (listing.isError) return inEnvelope(`The folder cannot be listed. ${listing.text}`)
  const files = entriesOf(listing).filter((entry) => !entry.endsWith('/'))
  const searches = calls.filter(({ name }) => name === 'grep_files')
  if (words.length > 0 && searches.length === 0) return search(question, words, files)
  const hits = hitsIn(searches.filter(({ isError }) => !isError))
  const texts = hits.map(({ text }) => text)
  const weights = weightsOf(texts, words)
  const places = words.length === 0 ? beginnings(files) : bestHits(hits, weights, maxPlaces)
  const reads = calls.filter(({ name }) => name === 'read_file')
  if (places.length > 0 && reads.length === 0) return read(places)
  const quotes = reads.flatMap(({ arguments: { path }, text, isError }) => {
    return isError ? [] : (bestQuote(path as string, text, weights) ?? [])
  })
  const searched = `${many(files.length, 'file')} searched, ${many(quotes.length, 'place')} read.`
  const found = words.filter((word) => weights.has(word))
  const missing = words.filter((word) => !weights.has(word))
  const summary = [searched, wordsText('Found', found), wordsText('Not found', missing)].join('')
  return inEnvelope(summary, [...quotes.map(quoteText), searched].join('\n\n'))
}

function list({ places }: Question): ScriptedReply {
  const pattern = globOf(places)
  const input = { recursive: true, limit: maxListed, ...(pattern !== undefined && { pattern }) }
  return { text: 'I look at what is there.', toolCalls: [{ name: 'list_files', arguments: input }] }
}

/** One search for each word, side by side. */
function search({ places }: Question, words: readonly string[], files: readonly string[]): ScriptedReply {
  const glob = globOf(places)
  const options = { ignoreCase: true, limit: maxListed, ...(glob !== undefined && { glob }) }
  return {
    text: `${many(files.length, 'file')}. I search for ${listed(words)}.`,
    toolCalls: words.map((word) => ({ name: 'grep_files', arguments: { pattern: wordPattern(word), ...options } })),
  }
}

function read(places: readonly Pick<Hit, 'path' | 'line'>[]): ScriptedReply {
  return {
    text: `I read ${listed(places.map(({ path, line }) => `${path}:${line}`))}.`,
    toolCalls: places.map(({ path, line }) => {
      return { name: 'read_file', arguments: { path, from: Math.max(1, line - linesAbove), lines: linesRead } }
    }),
  }
}

/** Where to read for a question without words to search for. */
function beginnings(files: readonly string[]): Pick<Hit, 'path' | 'line'>[] {
  const readmes = files.filter((path) => /^readme(?:\.|$)/i.test(path))
  const pages = files.filter((path) => /\.(?:md|txt)$/i.test(path))
  const order = [...new Set([...readmes, ...pages, ...files])]
  return order.slice(0, maxPlaces).map((path) => ({ path, line: 1 }))
}

/** Reads and quotes what follows a line. */
function readOn({ path, line }: Pick<Hit, 'path' | 'line'>, calls: readonly AnsweredCall[]): ScriptedReply {
  const done = calls.find(({ name }) => name === 'read_file')
  if (done === undefined) {
    const input = { path, from: line + 1, lines: linesReadOn }
    return { text: 'I read on there.', toolCalls: [{ name: 'read_file', arguments: input }] }
  }
  const quote = done.isError ? undefined : bestQuote(path, done.text, new Map())
  return quote === undefined ? 'Nothing follows.' : quoteText(quote)
}

/** The form in which background sessions end. */
function inEnvelope(summary: string, whole = summary): string {
  const parts = `<summary>${summary}</summary><full_result>${whole}</full_result>`
  return `<subagent_background_result>${parts}</subagent_background_result>`
}

function wordsText(label: string, words: readonly string[]): string {
  return words.length === 0 ? '' : ` ${label}: ${words.join(', ')}.`
}
