import { collapsed } from '../base/one-line.ts'
import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'
import type { ListedSkill } from '../runtime/skills/list-skills.ts'
import { plainText } from '../tools/files/clean-text.ts'
import type { Look } from './chat/look.ts'

/** Narrower than this, a description stands below its name. */
const tableColumns = 60
const plainLook: Pick<Look, 'paint'> = { paint: (_, text) => text }

/**
 * A table of skills: name, scope and description, and below it what is wrong with one.
 *
 * @param columns how wide the terminal is. Absent: lines are as long as what they say
 */
export function skillLines(
  skills: readonly ListedSkill[],
  { columns, look = plainLook }: { readonly columns?: number | undefined; readonly look?: Pick<Look, 'paint'> } = {},
): readonly string[] {
  const nameWidth = widest(skills.map(({ name }) => collapsed(plainText(name))))
  const scopeWidth = widest(skills.map(({ scope }) => scope))
  const isTable = columns === undefined || columns >= tableColumns
  return skills.flatMap((skill) => {
    const { description, name, overriddenBy, scope, valid } = skill
    const paint = (text: string): string =>
      valid && overriddenBy === undefined ? look.paint('bold', text) : look.paint('dim', text)
    const shown = collapsed(plainText(name))
    const head = isTable ? padded(shown, nameWidth) : shown
    const notes = notesOf(skill).flatMap((note) =>
      below(note, columns).map((line) => look.paint(valid ? 'dim' : 'red', line)),
    )
    const first = `${paint(head)}  ${look.paint('dim', isTable ? padded(scope, scopeWidth) : scope)}`
    if (!isTable) return [first, ...below(collapsed(plainText(description)), columns), ...notes]
    const left = columns === undefined ? undefined : columns - nameWidth - scopeWidth - 4
    const text = collapsed(plainText(description))
    return [`${first}  ${left === undefined ? text : cliTruncate(text, Math.max(left, 1))}`.trimEnd(), ...notes]
  })
}

function notesOf({ overriddenBy, problems }: ListedSkill): readonly string[] {
  const other = overriddenBy === undefined ? [] : [`Not used: ${collapsed(plainText(overriddenBy))} counts instead.`]
  return [...problems.map((problem) => collapsed(plainText(problem))), ...other]
}

/** Indented, and wrapped to the width. */
function below(text: string, columns: number | undefined): readonly string[] {
  if (text === '') return []
  const lines = columns === undefined ? [text] : wrapAnsi(text, Math.max(columns - 2, 1), { hard: true }).split('\n')
  return lines.map((line) => `  ${line}`)
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map((text) => stringWidth(text)))
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - stringWidth(text))
}
