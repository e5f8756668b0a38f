import { plainText } from '../../tools/files/clean-text.ts'
import { noOutput } from '../../tools/tool-output.ts'
import type { JsonObject } from '../../base/json.ts'
import { callback, checkOptions } from '../../base/option-shapes.ts'
import { reasonText } from '../policy/reason-text.ts'
import type { Observer } from './observers.ts'
import type { ToolCallEvent } from './tool-call-event.ts'

/** Options of `observerProgress`. */
export interface ProgressOptions {
  /** Writes a line, with its line end. @default to stderr */
  readonly write?: ((line: string) => unknown) | undefined
}

/** An observer that writes one line a call: `  [bash] npm test (12 lines)`. */
export function observerProgress(options: ProgressOptions = {}): Observer {
  checkOptions('observerProgress', options, { write: callback })
  const { write = toStderr } = options
  return (event) => void write(`${progressLine(event)}\n`)
}

function toStderr(line: string): void {
  process.stderr.write(line)
}

/** The line for a call, without a line end. */
export function progressLine({ call, decision, outcome, result, success }: ToolCallEvent): string {
  const hint = callHint(call.tool, call.arguments)
  const head = `  [${shown(call.tool)}]${hint === '' ? '' : ` ${hint}`}`
  if (outcome !== 'ran') return `${head} ${outcome}: ${shown(reasonText(decision.reason))}`
  return `${head} (${lineCount(result)} lines)${success ? '' : ' (error)'}`
}

const maxBodyChars = 60

/** What a call is about, in a few words; empty for a tool that is not known. */
export function callHint(tool: string, given: JsonObject): string {
  const hint = Object.hasOwn(hints, tool) ? hints[tool] : undefined
  return hint === undefined ? '' : shown(hint((key) => textOf(given[key])))
}

type Argument = (key: string) => string

const path = (get: Argument): string => get('path')
const body = (key: string) => (get: Argument) => {
  const text = shown(get(key))
  const chars = Array.from(text)
  return chars.length > maxBodyChars ? `${chars.slice(0, maxBodyChars - 3).join('')}...` : text
}

const hints: Readonly<Record<string, (get: Argument) => string>> = {
  read_file: path,
  write_file: path,
  replace_in_file: path,
  list_files: (get) => get('path') || '.',
  grep_files: (get) => `/${get('pattern')}/`,
  bash: body('command'),
  cmd: body('command'),
  shell_output: (get) => get('id'),
  shell_stop: (get) => get('id'),
  run_js: body('code'),
  js_help: (get) => [get('package'), get('symbol')].filter((part) => part !== '').join(' '),
  installed_packages: (get) => get('pattern'),
  web_search: (get) => get('query'),
  fetch_url: (get) => get('url'),
  git_status: (get) => get('path') || 'status',
  git_diff: (get) => get('file') || get('ref'),
  git_log: (get) => get('file') || get('n') || '10',
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** On one line, and cleaned. */
function shown(text: string): string {
  return plainText(text.replaceAll(/\r\n|[\n\r\u2028\u2029]/g, '⏎').replaceAll(/\p{Cc}/gu, ''))
}

function lineCount(text: string): number {
  if (text === '' || text === noOutput) return 0
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}
