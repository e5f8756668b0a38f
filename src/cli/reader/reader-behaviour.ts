import { type ScriptedBehaviour, type ScriptedCall, type ScriptedReply, textOf } from '../../index.ts'
import { type Question, readQuestion } from '../question-prompt.ts'
import { type AnsweredCall, answeredCalls } from './answered-calls.ts'
import { bestPlaces, type Hit, mergedHits, type Place, wordWeights } from './best-places.ts'
import { type QuestionWord, questionWords, wordPattern } from './question-words.ts'
import { bestQuote, quoteText } from './quote.ts'

const maxPlaces = 3
/** A place is read from a few lines before it. */
const linesBefore = 8
const linesRead = 24
const maxListed = 1_000

/** What the script knows at a step: all of it stands in the request. */
interface Knowledge {
  readonly question: Question
  readonly words: readonly QuestionWord[]
  readonly calls: readonly AnsweredCall[]
  readonly hits: readonly Hit[]
}

/**
 * Answers a question about files without a model: lists them, searches them for the words of the question, reads where
 * most of these meet, and quotes that. A function of the request, so it goes on anywhere after a restart.
 */
export const readerBehaviour: ScriptedBehaviour = ({ messages }): ScriptedReply => {
  const question = readQuestion(textOf(messages.findLast(({ role }) => role === 'user')))
  const words = questionWords(question.text)
  const calls = answeredCalls(messages)
  const listing = calls.find(({ name }) => name === 'list_files')
  if (listing === undefined) return look(question)
  if (listing.isError) return `The folder cannot be listed. ${listing.text}`
  const knowledge = { question, words, calls, hits: searchHits(question, words, calls) }
  if (words.length > 0 && !calls.some(({ name }) => name === 'grep_files')) return search(knowledge, listing)
  return readOn(knowledge, listing) ?? answer(knowledge, listing)
}

function look(question: Question): ScriptedReply {
  const pattern = globOf(question)
  const input = { recursive: true, limit: maxListed, ...(pattern !== undefined && { pattern }) }
  return { text: 'I look at what is there.', toolCalls: [{ name: 'list_files', arguments: input }] }
}

/** One search a word, all at once. */
function search({ question, words }: Knowledge, listing: AnsweredCall): ScriptedReply {
  const glob = globOf(question)
  const toolCalls = words.map((word): ScriptedCall => {
    const input = {
      pattern: wordPattern(word),
      ignoreCase: true,
      limit: maxListed,
      ...(glob !== undefined && { glob }),
    }
    return { name: 'grep_files', arguments: input }
  })
  const count = filesOf(listing).length
  return { text: `${many(count, 'file')}. I search for ${listed(textsOf(words))}.`, toolCalls }
}

/** The best place first, and then the others at once; nothing when all are read. */
function readOn(knowledge: Knowledge, listing: AnsweredCall): ScriptedReply | undefined {
  const places = placesToRead(knowledge, listing)
  const reads = knowledge.calls.filter(({ name }) => name === 'read_file').length
  const next = reads === 0 ? places.slice(0, 1) : places.slice(reads)
  if (next.length === 0) return undefined
  const where = listed(next.map(({ path, line }) => `${path}:${line}`))
  const lead = knowledge.words.length === 0 ? 'I read how it begins: ' : 'Most of them meet around '
  return {
    text: reads === 0 ? `${lead}${where}.` : `Then there is ${where}.`,
    toolCalls: next.map(({ path, line }) => {
      return { name: 'read_file', arguments: { path, from: Math.max(1, line - linesBefore), lines: linesRead } }
    }),
  }
}

/** Where the words meet; of a question without words to search for, the beginnings of the first files. */
function placesToRead({ words, hits }: Knowledge, listing: AnsweredCall): Pick<Place, 'path' | 'line'>[] {
  if (words.length > 0) return bestPlaces(hits, maxPlaces)
  const files = filesOf(listing)
  const readmes = files.filter((path) => /^readme(?:\.|$)/i.test(path))
  const pages = files.filter((path) => /\.(?:md|txt)$/i.test(path))
  return [...new Set([...readmes, ...pages, ...files])].slice(0, maxPlaces).map((path) => ({ path, line: 1 }))
}

function answer({ question, words, calls, hits }: Knowledge, listing: AnsweredCall): ScriptedReply {
  const where = question.places.length === 0 ? 'the folder' : listed(question.places)
  const count = filesOf(listing).length
  if (count === 0) return `There are no files in ${where}.`
  const weights = wordWeights(hits)
  const reads = calls.filter(({ name, isError }) => name === 'read_file' && !isError)
  const quotes = reads.flatMap(({ arguments: { path }, text }) => bestQuote(path as string, text, weights) ?? [])
  const found = words.filter((word) => weights.has(word))
  const missing = words.filter((word) => !weights.has(word))
  const searched = `${many(count, 'file')} searched, ${many(quotes.length, 'place')} read.`
  if (quotes.length === 0) return `${whyNothing(where, words, found)} ${searched}`
  const lead =
    words.length === 0 ? `This is how ${where} begins:` : `This is where most is said of ${listed(textsOf(found))}:`
  const gap = missing.length === 0 ? '' : ` No line has ${listed(textsOf(missing), 'or')}.`
  const closing = `${searched}${gap} I am a script: I find and quote; what follows from it is yours to judge.`
  return [lead, ...quotes.map(quoteText), closing].join('\n\n')
}

function whyNothing(where: string, words: readonly QuestionWord[], found: readonly QuestionWord[]): string {
  if (words.length === 0) return `Nothing in ${where} can be read as text.`
  if (found.length === 0) return `No line of ${where} has ${listed(textsOf(words), 'or')}.`
  return 'The words stand in the files, but the places could not be read.'
}

function searchHits(question: Question, words: readonly QuestionWord[], calls: readonly AnsweredCall[]): Hit[] {
  const searches = calls.filter(({ name }) => name === 'grep_files')
  const found = words.flatMap((word, index) => {
    const { text, isError } = searches[index] ?? { text: '', isError: true }
    return isError ? [] : [{ word, text }]
  })
  // Where the question itself is written down, there is seldom an answer.
  return mergedHits(found).filter(({ text }) => !text.includes(question.text))
}

function filesOf({ text }: AnsweredCall): string[] {
  return text.split('\n').filter((row) => row !== '' && !row.endsWith('/') && !/^\[.*\]$/.test(row))
}

/** The places as one pattern of the file tools. */
function globOf({ places }: Question): string | undefined {
  return places.length === 0
    ? undefined
    : places.length === 1
      ? `/${places[0]}`
      : `{${places.map((place) => `/${place}`).join(',')}}`
}

function textsOf(words: readonly QuestionWord[]): string[] {
  return words.map(({ word }) => word)
}

function listed(items: readonly string[], joint: 'and' | 'or' = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${joint} ${items.at(-1)}`
}

function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
