import { z } from 'zod'
import type { ArchivalData } from '../../../components/context/archival.ts'
import { lazily } from '../../base/lazily.ts'
import { parseModel } from '../../protocol/model-name.ts'
import { schemaIssues } from '../text/schema-issues.ts'
import type { Message } from '../../protocol/message.ts'
import { textOf } from '../projection/text-of.ts'
import { cutText } from '../../base/cut-text.ts'

export type SummaryStyle = ArchivalData['summary']['style']

/** Stands before the transcript of the turn. */
export const summaryAsk = 'Summarize the following completed agent turn:'
/** Stands for a summary that could not be written. */
export const noSummary = '[summary unavailable]'
/** Marks a reply in the wrong form. */
export const unparsed = (reply: string): string => `[unparsed] ${reply}`
/** Stands for an empty reply, which no provider takes back. */
export const emptyReply = '(no text)'

export const ollamaWarning = 'archival: ollama does not return JSON reliably; this summary is written as a paragraph.'

const common =
  'You summarize one finished turn of an AI agent. The whole turn is archived and can be asked about later; your summary ' +
  'is what stays in its place, so that the agent can tell whether it has to ask. State only what the turn shows. Keep names, ' +
  'paths, numbers and identifiers as they are.'

const structured = `${common}

Reply with one JSON object and nothing else, with exactly these keys:
- "outcome": a string that is not empty: what was asked for and what came of it.
- "key_findings": an array of strings, at most five: what was found out or decided.
- "files_touched": an array of strings: paths that were read, written or removed.
- "tools_used": an array of strings: names of the tools that were called.
- "open_questions": an array of strings: what is not settled.
An array with nothing to say is [].`

const paragraph = `${common}

Reply with one paragraph of three to five sentences, without bullets and headings: what was asked for, what was done, what came of it, and what is open.`

export function summaryPrompt(style: SummaryStyle): string {
  return style === 'structured' ? structured : paragraph
}

/** Asks the model to repair a reply in the wrong form. */
export function repairText(problem: string): string {
  return `That is not the JSON object that was asked for: ${problem}\nReply again with the JSON object alone.`
}

/** The summary's model, `provider/model`; a bare name is one of the agent's provider. */
export function summaryModel(named: string | null, agentModel: string): string {
  if (named === null) return agentModel
  return named.includes('/') ? named : `${parseModel(agentModel).provider}/${named}`
}

/** The style for a model: Ollama does not return JSON reliably. */
export function styleFor(style: SummaryStyle, model: string): SummaryStyle {
  return parseModel(model).provider === 'ollama' ? 'paragraph' : style
}

const texts = () => z.array(z.string())
const form = lazily(() =>
  z.object({
    outcome: z.string().refine((text) => text.trim() !== '', 'expected a text that is not empty'),
    key_findings: texts(),
    files_touched: texts(),
    tools_used: texts(),
    open_questions: texts(),
  }),
)

/**
 * The summary in a reply, or what is wrong with it. A structured one is its five keys in order, compact.
 * @param maxChars of a structured one, which cannot be cut
 */
export function parseSummary(
  style: SummaryStyle,
  reply: string,
  maxChars = Infinity,
): { readonly text: string; readonly problem?: undefined } | { readonly problem: string } {
  const text = reply.trim()
  if (text === '') return { problem: 'it is empty.' }
  if (style === 'paragraph') return { text }
  const parsed = parseJson(/^```[a-z]*\s*\n([\s\S]*?)\n?```$/i.exec(text)?.[1] ?? text)
  if (parsed === undefined) return { problem: 'it is no JSON.' }
  const result = form().safeParse(parsed.value)
  if (!result.success) return { problem: `${schemaIssues(result.error)}.` }
  const summary = JSON.stringify(result.data)
  return summary.length <= maxChars ? { text: summary } : { problem: `it is longer than ${maxChars} characters.` }
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    // What the parser says differs between versions of Node; a world has to be the same in a replay.
    return undefined
  }
}

const maxChars = 80

/** A holder's task: the first line of the message that opened its turn. */
export function holderTask(opening: Message | undefined): string {
  const line = taskLine(textOf(opening))
  return `Archive: ${line === '' ? '(no prompt)' : line}`
}

/** The first line of a prompt, cut to fit a list. */
export function taskLine(prompt: string): string {
  const [line = ''] = prompt.trim().split(/\r\n|\r|\n/, 1)
  return cutText(line.trimEnd(), maxChars, '...')
}
