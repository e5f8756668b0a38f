import stringWidth from 'string-width'
import type { JsonObject } from '../../index.ts'
import type { AllowedCalls } from '../../protocol/policy.ts'
import { exitPlanModeDeclaration } from '../../rules/policy/plan-mode.ts'
import { linkedPlaces } from '../../runtime/policy/real-paths.ts'
import { visibleText } from '../../tools/files/clean-text.ts'
import { deedText, reasonText } from '../../runtime/policy/reason-text.ts'
import { proposedChange } from '../../runtime/tools/proposed-change.ts'
import type { Look, Style } from './look.ts'
import type { Line } from './markdown.ts'

/** A call that waits for the user's yes. */
export interface AskedCall {
  readonly tool: string
  readonly arguments: JsonObject
  readonly reason?: string | undefined
  readonly dataClass?: string | undefined
  readonly operation?: string | undefined
  /** An answer may cover later calls of this tool. */
  readonly mayRemember?: boolean | undefined
  /** The command that an answer may cover, with operands behind it. */
  readonly commandStart?: string | undefined
  /** What the configuration may say so that such calls are not asked about. */
  readonly rule?: AllowedCalls | undefined
  /** Where paths led that are links, when the call was judged. */
  readonly leadsTo?: Readonly<Record<string, string>> | undefined
  /** The subagent that calls. */
  readonly by?: string | undefined
}

export interface ApprovalAnswer {
  readonly approved: boolean
  readonly reason?: string
  readonly remember?: 'session' | 'command'
  /** For later chats of the folder as well: the user's configuration gets a rule. */
  readonly isAlways?: true
  readonly stopTurn?: true
}

/** Rows of a command or diff that are shown at once; `v` shows the others. */
const maxRows = 40

/** What the user decides about: who wants to do what, whole or its beginning, and why it asks. */
export async function approvalText(
  call: AskedCall,
  { cwd, look, isWhole = false }: { readonly cwd: string; readonly look: Look; readonly isWhole?: boolean },
): Promise<readonly Line[]> {
  const { paint } = look
  const deed = deedText(call.operation, call.dataClass)
  const who = call.by === undefined ? '' : `${visibleText(call.by)}: `
  // The title says what it does already.
  const why = call.reason === undefined || call.reason.startsWith('default: ') ? undefined : reasonText(call.reason)
  const isPlan = call.tool === exitPlanModeDeclaration.name
  const what = isPlan ? ': may it carry out this plan?' : deed === '' ? '' : ` (${deed})`
  const title = `${who}${visibleText(call.tool)} asks${what}`
  const body = await bodyOf(call, cwd)
  const shown = isWhole ? body : body.slice(0, maxRows)
  const left = body.length - shown.length
  return [
    { text: paint(['bold', 'yellow'], title) },
    ...shown.map(({ text, style }) => ({ text: `  ${style === undefined ? text : paint(style, text)}` })),
    ...(left > 0 ? [{ text: paint('dim', `  … ${left} more lines: v shows all of it`) }] : []),
    ...(why === undefined || isPlan ? [] : [{ text: paint('dim', `  reason: ${visibleText(why)}`) }]),
  ]
}

/** The answers that this call takes. */
export function answersText({ mayRemember = false, commandStart, rule }: AskedCall): string {
  const answers = [
    'y yes, once',
    'n no (words behind it go to the agent)',
    ...(mayRemember ? ['a this tool, for this chat'] : []),
    ...(commandStart === undefined ? [] : [`c commands that begin ${JSON.stringify(visibleText(commandStart))}`]),
    ...(rule === undefined ? [] : [`always like ${isOfCommand(rule) ? 'c' : 'a'}, in all chats of this folder`]),
    's stop the turn',
  ]
  return `${answers.join(' · ')} · Enter: no`
}

function isOfCommand({ command }: AllowedCalls): boolean {
  return command !== undefined
}

/** `undefined`: the text is none of the answers. */
export function approvalAnswer(
  text: string,
  { mayRemember = false, commandStart, rule }: AskedCall,
): ApprovalAnswer | 'show-all' | undefined {
  const typed = text.trim()
  if (typed === '') return { approved: false }
  if (/^y(es)?$/i.test(typed)) return { approved: true }
  if (/^a$/i.test(typed)) return mayRemember ? { approved: true, remember: 'session' } : undefined
  if (/^always$/i.test(typed)) {
    if (rule === undefined) return undefined
    return { approved: true, remember: isOfCommand(rule) ? 'command' : 'session', isAlways: true }
  }
  if (/^c$/i.test(typed)) return commandStart === undefined ? undefined : { approved: true, remember: 'command' }
  if (/^s$/i.test(typed)) return { approved: false, stopTurn: true }
  if (/^v$/i.test(typed)) return 'show-all'
  const [, reason = ''] = /^no?(?:[\s,:.]+(.*))?$/is.exec(typed) ?? []
  if (/^no?(?![a-z])/i.test(typed)) return { approved: false, ...(reason !== '' && { reason }) }
  return undefined
}

/** What is shown of an answer. */
export function answerText({ approved, isAlways, reason, remember, stopTurn }: ApprovalAnswer): string {
  if (stopTurn === true) return '  no, and the turn stops'
  if (!approved) return reason === undefined ? '  no' : `  no: ${reason}`
  const what = remember === 'command' ? 'commands that begin so' : 'this tool'
  if (isAlways === true) return `  yes, and ${what} in all chats of this folder`
  return remember === undefined ? '  yes' : `  yes, and ${what} from now on`
}

/** As many of the answers in a row as fit into it whole. */
export function answerRows(hint: string, columns: number): readonly string[] {
  const rows: string[] = []
  for (const answer of hint.split(' · ')) {
    const row = rows.at(-1)
    const longer = `${row} · ${answer}`
    if (row === undefined || stringWidth(longer) > columns) rows.push(answer)
    else rows[rows.length - 1] = longer
  }
  return rows
}

interface BodyRow {
  readonly text: string
  readonly style?: Style
}

async function bodyOf(call: AskedCall, cwd: string): Promise<readonly BodyRow[]> {
  const leadsTo = { ...(await linkedPlaces(call.arguments, cwd)), ...call.leadsTo }
  const links = Object.entries(leadsTo).map(([path, target]) => `${visibleText(path)} leads to ${visibleText(target)}`)
  return [...links.map((text): BodyRow => ({ text, style: 'bold' })), ...(await ownRows(call, cwd))]
}

async function ownRows({ tool, arguments: input }: AskedCall, cwd: string): Promise<readonly BodyRow[]> {
  const change = await proposedChange(tool, input, cwd)
  if (change !== undefined) {
    const note = change.note === undefined ? [] : [{ text: `(${change.note})` }]
    return [{ text: visibleText(change.path), style: 'bold' }, ...note, ...change.lines.map(diffRow)]
  }
  const { command, code, plan } = input
  const [only, ...others] = Object.entries(input).filter(([, value]) => value !== undefined)
  for (const whole of [command, code, plan]) {
    if (isText(whole) && (others.length === 0 || tool === 'bash' || tool === 'cmd' || tool === 'run_js')) {
      const besides = Object.entries(input).filter(([, value]) => value !== whole)
      return [...rowsOf(whole), ...besides.map(([name, value]) => ({ text: argumentText(name, value) }))]
    }
  }
  if (only === undefined) return []
  return [only, ...others].flatMap(([name, value]) => rowsOf(argumentText(name, value)))
}

function diffRow(line: string): BodyRow {
  const text = visibleText(line)
  if (text.startsWith('@@')) return { text, style: 'dim' }
  return text.startsWith('+') ? { text, style: 'green' } : text.startsWith('-') ? { text, style: 'red' } : { text }
}

function rowsOf(text: string): BodyRow[] {
  return text.split('\n').map((line) => ({ text: visibleText(line) }))
}

function argumentText(name: string, value: unknown): string {
  return `${visibleText(name)}: ${visibleText(isText(value) ? value : JSON.stringify(value))}`
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
