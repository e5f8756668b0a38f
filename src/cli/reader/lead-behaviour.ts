import { type ScriptedBehaviour, type ScriptedCall, type ScriptedReply, textOf } from '../../index.ts'
import { type Question, questionPrompt, readQuestion } from '../question-prompt.ts'
import { type AnsweredCall, answeredCalls } from './answered-calls.ts'
import { readFindings } from './findings.ts'
import { folderParts, type FolderPart } from './folder-parts.ts'
import { furtherQuestion } from './further-question.ts'
import { type Launched, launchedSessions } from './launched-sessions.ts'
import { entriesOf, globOf, maxListed } from './listing.ts'
import { listed, many } from './phrases.ts'
import { bestQuotes, reportText } from './report.ts'

/** Most folders that are gone into because each is all that the one above holds. */
const maxDepth = 4
/** Most times that it goes to sleep, whatever it is told. */
const maxWaits = 10

/**
 * A lead without a model: splits the folder, sends a researcher into each part, sleeps until they are done, reads what
 * they found, asks the best of them what follows there, and reports. A function of the request, so it goes on anywhere
 * after a restart.
 */
export const leadBehaviour: ScriptedBehaviour = ({ messages }): ScriptedReply => {
  const question = readQuestion(textOf(messages.findLast(({ role }) => role === 'user')))
  const calls = answeredCalls(messages)
  const sessions = launchedSessions(messages, calls)
  if (sessions.length === 0) return lookOrLaunch(question, calls)
  return (
    waitFor(sessions, calls) ??
    readSummaries(sessions) ??
    readResults(sessions) ??
    askFurther(question, sessions, calls) ??
    reportText(question, sessions, calls)
  )
}

function lookOrLaunch(question: Question, calls: readonly AnsweredCall[]): ScriptedReply {
  const listings = calls.filter(({ name }) => name === 'list_files')
  const listing = listings.at(-1)
  if (listing === undefined) return list('I look at what is there.', question.places)
  if (listing.isError) return `The folder cannot be listed. ${listing.text}`
  const entries = entriesOf(listing)
  const where = question.places.length === 0 ? 'the folder' : listed(question.places)
  if (entries.length === 0) return `There are no files in ${where}.`
  const [only] = entries
  if (entries.length === 1 && only?.endsWith('/') === true && listings.length < maxDepth) {
    return list(`All is in ${only}`, [], only)
  }
  return launch(question, folderParts(entries))
}

function list(text: string, places: readonly string[], path?: string): ScriptedReply {
  const pattern = globOf(places)
  const input = { limit: maxListed, ...(path !== undefined && { path }), ...(pattern !== undefined && { pattern }) }
  return { text, toolCalls: [{ name: 'list_files', arguments: input }] }
}

/** A researcher a part, all at once. */
function launch({ text }: Question, parts: readonly FolderPart[]): ScriptedReply {
  const lead =
    parts.length === 1 ? 'One researcher reads it.' : `${parts.length} parts: a researcher for each, side by side.`
  const toolCalls = parts.map((places) => {
    const prompt = questionPrompt({ text, places })
    return { name: 'subagent', arguments: { category: 'researcher', prompt, background: true } }
  })
  return { text: lead, toolCalls }
}

/** Sleeps as long as somebody is out of whom it was not told. */
function waitFor(sessions: readonly Launched[], calls: readonly AnsweredCall[]): ScriptedReply | undefined {
  const waits = calls.filter(({ name }) => name === 'subagent_wait')
  const out = sessions.filter(({ sessionId, ended }) => sessionId !== undefined && ended === undefined)
  const isNobodyThere = waits.at(-1)?.text.startsWith('No background') === true
  if (out.length === 0 || isNobodyThere || waits.length === maxWaits) return undefined
  const text = waits.length === 0 ? 'I sleep until they are done.' : 'Not all are done: I sleep on.'
  return { text, toolCalls: [{ name: 'subagent_wait', arguments: { mode: 'all' } }] }
}

function readSummaries(sessions: readonly Launched[]): ScriptedReply | undefined {
  const unread = sessions.filter(({ ended, summary }) => ended === 'succeeded' && summary === undefined)
  if (unread.length === 0) return undefined
  return { text: 'I read what they say in short.', toolCalls: unread.map((one) => resultCall(one, 'summary')) }
}

/** In full, of those that have read something. */
function readResults(sessions: readonly Launched[]): ScriptedReply | undefined {
  const worthReading = sessions.filter(({ summary = '' }) => (readFindings(summary)?.places ?? 0) > 0)
  const unread = worthReading.filter(({ result }) => result === undefined)
  if (unread.length === 0) return undefined
  const text = `${many(unread.length, 'of them has', 'of them have')} something to quote: I read that in full.`
  return { text, toolCalls: unread.map((one) => resultCall(one, 'full')) }
}

function resultCall({ sessionId = '' }: Launched, method: 'full' | 'summary'): ScriptedCall {
  return { name: 'subagent_result', arguments: { session_id: sessionId, read_method: method } }
}

/** Whoever found the best place is asked, once, what follows there. */
function askFurther(
  question: Question,
  sessions: readonly Launched[],
  calls: readonly AnsweredCall[],
): ScriptedReply | undefined {
  const [best] = bestQuotes(question, sessions)
  if (best === undefined || calls.some(({ name }) => name === 'query_subagent')) return undefined
  const { quote, session } = best
  const input = { id: session.sessionId ?? '', prompt: furtherQuestion(quote) }
  const text = `Most is said in ${quote.path}. I ask what follows there.`
  return { text, toolCalls: [{ name: 'query_subagent', arguments: input }] }
}
