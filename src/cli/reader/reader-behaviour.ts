import { type ScriptedBehaviour, type ScriptedCall, type ScriptedReply, textOf } from '../../index.ts'
import { type Question, readQuestion } from '../question-prompt.ts'
import { type AnsweredCall, answeredCalls } from './answered-calls.ts'
import { bestPlaces, type Hit, mergedHits, type Place, wordWeights } from './best-places.ts'
import { findingsText, searchedText } from './findings.ts'
import { answerFurther, readFurther } from './further-question.ts'
import { filesOf, globOf, maxListed } from './listing.ts'
import { listed, many } from './phrases.ts'
import { type QuestionWord, questionWords, wordPattern } from './question-words.ts'
import { bestQuote, quoteText } from './quote.ts'

const maxPlaces = 3
/** A place is read from a few lines before it. */
const linesBefore = 8
const linesRead = 24

/** What the script knows at a step: all of it stands in the request. */
interface Knowledge {
  readonly question: Question
  readonly words: readonly QuestionWord[]
  readonly calls: readonly AnsweredCall[]
  readonly hits: readonly Hit[]
}

/**
 * A researcher without a model: lists the files of its part, searches them for the words of the question, reads where
 * most of these meet, and quotes that. A function of the request, so it goes on anywhere after a restart.
 */
export const readerBehaviour: ScriptedBehaviour = ({ messages }): ScriptedReply => {
  const asked = textOf(messages.findLast(({ role }) => role === 'user'))
  const calls = answeredCalls(messages)
  const further = readFurther(asked)
  if (further !== undefined) return answerFurther(further, calls)
  const question = readQuestion(asked)
  const words = questionWords(question.text)
  const listing = calls.find(({ name }) => name === 'list_files')
  if (listing === undefined) return look(question)
  if (listing.isError) return inEnvelope(`The folder cannot be listed. ${listing.text}`)
  const knowledge = { question, words, calls, hits: searchHits(question, words, calls) }
  if (words.length > 0 && !calls.some(({ name }) => name === 'grep_files')) return search(knowledge, listing)
  return readOn(knowledge, listing) ?? answer(knowledge, listing)
}

function look({ places }: Question): ScriptedReply {
  const pattern = globOf(places)
  const input = { recursive: true, limit: maxListed, ...(pattern !== undefined && { pattern }) }
  return { text: 'I look at what is there.', toolCalls: [{ name: 'list_files', arguments: input }] }
}

/** One search a word, all at once. */
function search({ question, words }: Knowledge, listing: AnsweredCall): ScriptedReply {
  const glob = globOf(question.places)
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

function answer({ words, calls, hits }: Knowledge, listing: AnsweredCall): ScriptedReply {
  const weights = wordWeights(hits)
  const reads = calls.filter(({ name, isError }) => name === 'read_file' && !isError)
  const quotes = reads.flatMap(({ arguments: { path }, text }) => bestQuote(path as string, text, weights) ?? [])
  const findings = {
    files: filesOf(listing).length,
    places: quotes.length,
    found: textsOf(words.filter((word) => weights.has(word))),
    missing: textsOf(words.filter((word) => !weights.has(word))),
  }
  const whole = [...quotes.map(quoteText), `${searchedText(findings)}.`].join('\n\n')
  return inEnvelope(findingsText(findings), whole)
}

/** The form in which sessions in the background end. */
function inEnvelope(summary: string, whole = summary): string {
  const parts = `<summary>${summary}</summary><full_result>${whole}</full_result>`
  return `<subagent_background_result>${parts}</subagent_background_result>`
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

function textsOf(words: readonly QuestionWord[]): string[] {
  return words.map(({ word }) => word)
}
