import type { Expanded } from './parameter-expansion.ts'
import { wrappers } from './shell-programs.ts'
import { printedText } from './shell-output.ts'
import type { ShellScope } from './shell-scope.ts'
import { namesOf, type WordReading } from './shell-word.ts'

/** Commands whose arguments are names of variables that they set. */
const assigners = new Set(['read', 'mapfile', 'readarray', 'printf', 'getopts', 'unset', 'let'])
const folderCommands = new Set(['cd', 'pushd', 'popd'])

/** What a command does to the shell itself: its folder, its variables. @param input what it reads, where that is no file */
export function setBy(words: readonly WordReading[], scope: ShellScope, input: Expanded | undefined): void {
  for (const [at, word] of words.entries()) {
    const names = namesOf(word)
    const rest = words.slice(at + 1)
    const going = names.find((one) => folderCommands.has(one))
    if (going !== undefined) scope.changeFolder(going, rest)
    if (names.includes('set') || names.some((one) => scope.words.functions.has(one)))
      scope.variables.setPositionals(rest.filter(({ values }) => !values.every((value) => value === '--')))
    if (names.some((one) => assigners.has(one))) setByReading(names, rest, scope, input)
    if (!names.some((one) => wrappers.has(one))) return
  }
}

function setByReading(
  names: readonly string[],
  words: readonly WordReading[],
  scope: ShellScope,
  read: Expanded | undefined,
): void {
  const { variables } = scope
  const input = names.includes('printf') ? undefined : read
  const given =
    variables
      .get('IFS')
      ?.values.join('')
      .replace(/[\]^\\-]/g, '\\$&') ?? ''
  const separator = new RegExp(`[\\s${given}]+`)
  for (const { values } of words)
    for (const value of values) {
      const key = value.replace(/=.*/s, '')
      if (input === undefined || input.hasUnknown) variables.forget(key)
      else if (/^\w+$/.test(key)) {
        const fields = input.values.flatMap((text) => [text, ...text.split(separator)])
        variables.assign(key, { values: fields, hasUnknown: false, isTooMuch: false }, true)
      }
    }
  const [option, target, ...rest] = words
  if (!names.includes('printf') || option?.values[0] !== '-v' || target === undefined) return
  const printf = { values: ['printf'], hasUnknown: false, isTooMuch: false }
  const printed = printedText([printf, ...rest], scope) ?? { values: [], hasUnknown: true }
  for (const key of target.values) variables.assign(key, { ...printed, isTooMuch: false }, true)
}
