import { type JsonObject, type ScriptedBehaviour, type ScriptedReply, textOf } from 'entia'
import { type AnsweredCall, answeredCalls, entriesOf, globOf, listed, many, maxListed } from './calls.ts'
import { followUp, type Question, questionPrompt, readQuestion } from './question.ts'
import { distinct, lastLineOf, type Quote, quoteText, readQuotes } from './quote.ts'
import { pathWeight, questionWords, weightOf, weightsOf, wordsIn } from './search.ts'

/** Most researchers. */
const maxParts = 5
/** Most names in one part: they become one pattern. */
const maxNames = 80
const maxQuotes = 5

/** What is known of a researcher. */
interface Part {
  readonly places: readonly string[]
  /** Absent: the launch was refused. */
  readonly session?: string | undefined
  /** Absent: not read yet. */
  readonly summary?: string | undefined
  readonly result?: string | undefined
  /** Why there is no result. */
  readonly problem?: string | undefined
}

/**
 * A lead without a model: splits the folder, launches a researcher for each part, sleeps until they are done, reads their
 * results, asks one of them a further question, and reports. It is a function of the request, so a restart changes nothing.
 */
export const lead: ScriptedBehaviour = ({ messages }): ScriptedReply => {
  const question = readQuestion(textOf(messages.findLast(({ role }) => role === 'user')))
  const calls = answeredCalls(messages)
  const parts = partsOf(calls)
  if (parts.length === 0) return listOrLaunch(question, calls)
  const launched = parts.filter(({ session }) => session !== undefined)
  if (launched.length > 0 && !calls.some(({ name }) => name === 'subagent_wait')) {
    const wait = { name: 'subagent_wait', arguments: { mode: 'all' } }
    return { text: 'I sleep until they are done.', toolCalls: [wait] }
  }
  const unread = launched.filter(({ summary, problem }) => summary === undefined && problem === undefined)
  if (unread.length > 0) return read('I read the summaries.', unread, 'summary')
  const useful = parts.filter(({ summary, result }) => countsOf(summary).places > 0 && result === undefined)
  if (useful.length > 0) return read(`I read ${many(useful.length, 'result')} in full.`, useful, 'full')
  const quotes = bestQuotes(question, parts)
  const further = calls.find(({ name }) => name === 'query_subagent')
  const [best] = quotes
  if (best === undefined || further !== undefined) return report(question, parts, quotes, further)
  const asked = { id: best.session, prompt: followUp(best.quote.path, lastLineOf(best.quote)) }
  const text = `The best place is in ${best.quote.path}. I ask what follows there.`
  return { text, toolCalls: [{ name: 'query_subagent', arguments: asked }] }
}

function listOrLaunch(question: Question, calls: readonly AnsweredCall[]): ScriptedReply {
  const { places, text } = question
  const [listing] = calls
  if (listing === undefined) {
    const pattern = globOf(places)
    const input = { limit: maxListed, ...(pattern !== undefined && { pattern }) }
    return { text: 'I look at what is there.', toolCalls: [{ name: 'list_files', arguments: input }] }
  }
  if (listing.isError) return `The folder cannot be listed. ${listing.text}`
  const parts = split(entriesOf(listing))
  if (parts.length === 0) return `There are no files in ${whereOf(question)}.`
  return {
    text:
      parts.length === 1 ? 'One researcher reads it.' : `${parts.length} parts: one researcher for each, in parallel.`,
    toolCalls: parts.map((part) => {
      const prompt = questionPrompt({ text, places: part })
      return { name: 'subagent', arguments: { category: 'researcher', prompt, background: true } }
    }),
  }
}

/**
 * Each entry is a part. Where there are too many, the folders are dealt out evenly, and the files beside them are one part.
 * Without folders everything is one part.
 */
export function split(entries: readonly string[]): string[][] {
  const names = entries.map((entry) => entry.replace(/\/$/, ''))
  if (entries.length <= maxParts) return names.map((name) => [name])
  const folders = names.filter((_, index) => entries[index]?.endsWith('/'))
  if (folders.length === 0) return [[]]
  const files = names.filter((name) => !folders.includes(name)).slice(0, maxNames)
  const runs = Math.min(folders.length, maxParts - (files.length === 0 ? 0 : 1))
  const dealt = Array.from({ length: runs }, (_, run) => {
    const [from, to] = [run, run + 1].map((at) => Math.floor((at * folders.length) / runs))
    return folders.slice(from, to).slice(0, maxNames)
  })
  return files.length === 0 ? dealt : [...dealt, files]
}

/** The researchers that were launched, in order, with what was read of each. */
function partsOf(calls: readonly AnsweredCall[]): Part[] {
  const results = calls.filter(({ name }) => name === 'subagent_result')
  return calls
    .filter(({ name }) => name === 'subagent')
    .map(({ arguments: { prompt }, text }): Part => {
      const { places } = readQuestion(prompt as string)
      const session = fields(text).session_id
      if (session === undefined) return { places, problem: text }
      const [summary, full] = ['summary', 'full'].map((method) => {
        const isIt = ({ session_id: id, read_method: how }: JsonObject): boolean => id === session && how === method
        const found = results.find((call) => isIt(call.arguments))
        return found && fields(found.text)
      })
      const problem = summary && (summary.inline_content === undefined ? (summary.error ?? 'no result') : undefined)
      return { places, session, problem, summary: summary?.inline_content, result: full && (full.inline_content ?? '') }
    })
}

/** The texts in what a tool says about a session. */
interface SessionFields {
  readonly session_id?: string
  readonly inline_content?: string
  readonly error?: string
}

function fields(text: string): SessionFields {
  if (!text.startsWith('{')) return {}
  const all = Object.entries(JSON.parse(text) as object)
  return Object.fromEntries(all.filter(([, value]) => typeof value === 'string' && value !== ''))
}

function read(text: string, parts: readonly Part[], method: 'full' | 'summary'): ScriptedReply {
  const toolCalls = parts.map(({ session = '' }) => {
    return { name: 'subagent_result', arguments: { session_id: session, read_method: method } }
  })
  return { text, toolCalls }
}

/** The numbers in the summary of a researcher. */
function countsOf(summary = ''): { readonly files: number; readonly places: number } {
  const [, files = 0, places = 0] = /^(\d+) files? searched, (\d+) places? read\./.exec(summary) ?? []
  return { files: Number(files), places: Number(places) }
}

/** What the researchers quote, best first: most words of the question, rare ones before common ones. */
function bestQuotes({ text }: Question, parts: readonly Part[]): { readonly quote: Quote; readonly session: string }[] {
  const found = parts.flatMap(({ session = '', result = '' }) => {
    return readQuotes(result).map((quote) => ({ quote, session, lines: quote.lines.join('\n') }))
  })
  const all = found.map(({ lines }) => lines)
  const weights = weightsOf(all, questionWords(text))
  const scored = found.map((each) => ({ ...each, score: weightOf(each.lines, weights) * pathWeight(each.quote.path) }))
  return scored.toSorted((a, b) => b.score - a.score)
}

function report(
  question: Question,
  parts: readonly Part[],
  best: readonly { readonly quote: Quote }[],
  further: AnsweredCall | undefined,
): string {
  const [first, ...others] = best.map(({ quote }) => quote)
  const next = further === undefined || further.isError ? [] : readQuotes(further.text)
  const quotes = distinct([...(first === undefined ? [] : [first]), ...next, ...others]).slice(0, maxQuotes)
  const counts = parts.map(({ summary }) => countsOf(summary))
  const [files, places] = (['files', 'places'] as const).map((key) => counts.reduce((sum, one) => sum + one[key], 0))
  const searched = `${many(files ?? 0, 'file')} searched, ${many(places ?? 0, 'place')} read.`
  const words = questionWords(question.text)
  const lost = parts.flatMap(lostText)
  if (files === 0 && lost.length > 0) return ['Nothing could be searched.', ...lost].join(' ')
  const where = whereOf(question)
  if (quotes.length === 0) {
    const isFound = parts.some(({ summary = '' }) => summary.includes(' Found: '))
    const why =
      words.length === 0 || isFound
        ? `Nothing could be read in ${where}.`
        : `No line of ${where} has ${listed(words, 'or')}.`
    return [why, searched, ...lost].join(' ')
  }
  const quoted = wordsIn(quotes.flatMap(({ lines }) => lines).join('\n'), words)
  const missing = words.filter((word) => !quoted.includes(word))
  const about = words.length === 0 ? `This is how ${where} begins:` : `These lines say most about ${listed(quoted)}:`
  const gap = missing.length === 0 ? [] : [`They do not mention ${listed(missing, 'or')}.`]
  const closing = [searched, ...gap, ...lost, 'I am a script: I find and quote lines, I do not interpret them.']
  return [about, ...quotes.map(quoteText), closing.join(' ')].join('\n\n')
}

/** What to say of a researcher without a usable result. */
function lostText({ places, problem, summary = '' }: Part): string[] {
  const why = problem ?? (/^\d+ files? searched/.test(summary) ? undefined : summary)
  if (why === undefined) return []
  return [`Nothing from ${places.length === 0 ? 'the folder' : listed(places)}: ${why.replace(/[.\s]*$/, '.')}`]
}

function whereOf({ places }: Question): string {
  return places.length === 0 ? 'the folder' : listed(places)
}
