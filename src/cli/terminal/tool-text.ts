import type { JsonObject } from '../../index.ts'
import { type AnsweredTool, sessionName } from '../ask-event.ts'
import { many } from './amounts.ts'
import type { Row, Style } from './screen.ts'

const nouns: Readonly<Record<string, readonly [one: string, more: string]>> = {
  list_files: ['entry', 'entries'],
  grep_files: ['match', 'matches'],
  read_file: ['line', 'lines'],
}

type NameOf = (sessionId: string) => string

export interface ToolRowOptions {
  readonly nameOf: (sessionId: string) => string
  readonly style?: Style | undefined
  /** Goes before the call: whose it is. */
  readonly lead?: string | undefined
}

export function toolRow(answered: AnsweredTool, { nameOf, style, lead = '' }: ToolRowOptions): Row {
  const { tool, arguments: input, text, isError } = answered
  const [mark, markStyle] = isError ? (['✗', 'red'] as const) : (['✓', 'green'] as const)
  const call = lead + callText(tool, input, nameOf)
  return { mark, markStyle: style ?? markStyle, text: call, note: resultText(tool, text, isError) }
}

/** `read_file docs/architecture.md`. */
export function callText(tool: string, input: JsonObject, nameOf: NameOf = (sessionId) => sessionId): string {
  const { path, pattern, glob } = input
  const inPath = isText(path) && path !== '.' ? `in ${path}` : ''
  const inGlob = isText(glob) ? `in ${globText(glob)}` : ''
  if (tool === 'grep_files' && isText(pattern)) return words(tool, pattern, inPath, inGlob)
  if (tool === 'list_files') return words(tool, isText(path) ? path : '.', isText(pattern) ? globText(pattern) : '')
  if (tool === 'read_file' && isText(path)) return words(tool, path)
  return sessionCallText(tool, input, nameOf) ?? words(tool, JSON.stringify(input))
}

function sessionCallText(tool: string, input: JsonObject, nameOf: NameOf): string | undefined {
  const { prompt, session_id: session, session_ids: sessions, read_method: method, mode, id } = input
  const named = isText(session) ? nameOf(session) : ''
  if (tool === 'subagent' && isText(prompt)) return words(tool, sessionName(prompt))
  if (tool === 'query_subagent' && isText(id) && isText(prompt)) return words(tool, `${nameOf(id)}:`, prompt)
  if (tool === 'subagent_result') return words(tool, named, isText(method) ? method : 'full')
  if (tool === 'subagent_wait') {
    const names = Array.isArray(sessions) ? sessions.filter(isText).map(nameOf).join(', ') : ''
    return words(tool, isText(mode) ? mode : 'any', names)
  }
  return /^subagent_\w+$/.test(tool) ? words(tool, named) : undefined
}

/** `17 matches`. A file tool's closing note is more exact than the number of lines. */
export function resultText(tool: string, text: string, isError: boolean): string {
  const lines = text.split('\n')
  if (isError) return (lines[0] ?? '').replace(/^Error: /, '')
  if (/^subagent(?:_|$)/.test(tool)) return answerText(text)
  const first = lines.findIndex((line) => /^\[.*\]$/.test(line))
  const amount = /^\[((?:no |lines \d|\d+ of \d|\d+ matches shown|empty)[^;:\]]*)/.exec(lines[first] ?? '')?.[1]
  if (amount !== undefined) return amount.replace(/ matches shown$/, ' matches and more')
  const count = first < 0 ? lines.length : first
  const [one, more] = nouns[tool] ?? ['line', 'lines']
  return `${count} ${count === 1 ? one : more}`
}

/** The error, how much was read, or the status of the session. */
function answerText(text: string): string {
  const answer = parsed(text)
  if (answer === undefined) return text.startsWith('Waiting for ') ? 'asleep' : (text.split('\n', 1)[0] ?? '')
  const { error, inline_content: content, lifecycle_status: status } = answer
  if (isText(error)) return error
  if (isText(content)) return many(content.length, 'character')
  return isText(status) ? status : 'done'
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/** `{/docs,/README.md}` as `docs, README.md`. */
function globText(glob: string): string {
  return glob.replaceAll(/(?<=^|[{,])\/|[{}]/g, '').replaceAll(',', ', ')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function words(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ')
}
