import { relative } from 'node:path'
import { textOf } from '../../index.ts'
import type { PutBackFile, WrittenFile } from '../../runtime/tools/file-backups.ts'
import type { RewindOptions, RewindPlan, RewindResult } from '../../runtime/chat/rewind.ts'
import { contains } from '../../tools/files/leads-to.ts'
import type { ChatUi } from './chat-ui.ts'
import { many } from '../terminal/amounts.ts'
import { cutText } from '../../base/cut-text.ts'
import { visibleText } from '../../tools/files/clean-text.ts'

/** How many files a question or a report names. */
const maxFiles = 40
const maxWordsChars = 60

/** The count behind `/rewind`; `undefined`: it is none. */
export function rewindCount(rest: string): number | undefined {
  const count = rest === '' ? 1 : /^\d+$/.test(rest) ? Number(rest) : 0
  return count >= 1 ? count : undefined
}

/** Asks what is to become of files that were written since. */
export async function askFiles(
  ui: Pick<ChatUi, 'choose' | 'gap' | 'say'>,
  plan: RewindPlan,
  cwd: string,
): Promise<RewindOptions | 'stay'> {
  ui.gap()
  ui.say(rewindQuestion(plan, cwd), 'yellow')
  const answer = (text: string): RewindOptions | 'stay' | undefined => rewindAnswer(text, plan)
  return ui.choose({ hint: rewindAnswers(plan), otherwise: 'stay', answer })
}

/** What going back would do to files, for the user to decide. */
function rewindQuestion(plan: RewindPlan, cwd: string): string {
  const rows = plan.files.map((file) => [fileName(file, cwd), prospect(file)] as const)
  return [
    `Going back to before ${words(plan)}. Tools have written files since:`,
    ...inColumns(rows),
    ...notes(plan),
  ].join('\n')
}

/** The answers that it takes. */
function rewindAnswers({ files }: RewindPlan): string {
  const changed = files.some(({ state }) => state === 'changed') ? ['a also those that changed since'] : []
  return ['y put them back', ...changed, 'n leave files as they are', 'Enter: do not go back'].join(' · ')
}

/** `'stay'`: nothing is taken back. `undefined`: the text is none of the answers. */
function rewindAnswer(text: string, { files }: RewindPlan): RewindOptions | 'stay' | undefined {
  const typed = text.trim()
  if (typed === '') return 'stay'
  if (/^y(es)?$/i.test(typed)) return { files: true }
  if (/^no?$/i.test(typed)) return { files: false }
  if (/^a$/i.test(typed) && files.some(({ state }) => state === 'changed')) return { files: true, changedFiles: true }
  return undefined
}

/** What was done. */
export function rewoundText(result: RewindResult, cwd: string): string {
  const rows = result.files.map((file) => [fileName(file, cwd), outcome(file)] as const)
  return [`Went back to before ${words(result)}.`, ...inColumns(rows), ...notes(result)].join('\n')
}

function words({ message }: Pick<RewindPlan, 'message'>): string {
  const line = visibleText(textOf(message).trim().split('\n', 1)[0] ?? '')
  return JSON.stringify(cutText(line, maxWordsChars, '…'))
}

function notes({ commands, isSummaryDropped }: Pick<RewindPlan, 'commands' | 'isSummaryDropped'>): readonly string[] {
  return [
    ...(commands === 0 ? [] : [`${many(commands, 'command')} ran since: what they did stays.`]),
    ...(isSummaryDropped ? ['The summary goes too: the messages that it stood for are sent whole again.'] : []),
  ]
}

function prospect({ action, state, why = '' }: WrittenFile): string {
  if (state === 'impossible') return `stays: ${why}`
  const what = action === 'remove' ? 'is removed: it was not there' : 'is put back'
  return state === 'changed' ? `${why}: stays, unless you say a` : what
}

function outcome({ action, isDone, why = '' }: PutBackFile): string {
  if (!isDone) return `stays: ${visibleText(why)}`
  return action === 'remove' ? 'removed' : 'put back'
}

function fileName({ path }: WrittenFile, cwd: string): string {
  return visibleText(contains(cwd, path) ? relative(cwd, path) : path)
}

function inColumns(rows: readonly (readonly [name: string, text: string])[]): readonly string[] {
  const shown = rows.slice(0, maxFiles)
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  const left = rows.length - shown.length
  return [...shown.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`), ...(left > 0 ? [`  … ${left} more`] : [])]
}
