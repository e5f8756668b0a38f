import type { DataClass, Operation } from '../../protocol/policy.ts'

const places: Readonly<Record<DataClass, string>> = {
  code: ' in your project',
  credential: ' near credentials',
  other: ' outside of your project',
  personal: ' among your personal files',
  public: '',
}

const deeds: Readonly<Record<Operation, string>> = {
  read: 'reads',
  write: 'writes',
  exec: 'runs a command',
  unknown: 'does not say what it changes',
}

/** What a call does and where, for a person: `writes in your project`. Empty where nothing is known. */
export function deedText(operation: string | undefined, dataClass: string | undefined): string {
  const deed = operation !== undefined && Object.hasOwn(deeds, operation) ? deeds[operation as Operation] : ''
  if (deed === '' || operation === 'unknown') return deed
  return deed + (dataClass !== undefined && Object.hasOwn(places, dataClass) ? places[dataClass as DataClass] : '')
}

const whole: Readonly<Record<string, string>> = {
  'policy function failed': 'the policy of the program failed',
  'policy function': 'by the policy of the program',
  'no policy applies': 'no rule applies',
}

const begun: readonly (readonly [code: string, words: (rest: string) => string])[] = [
  ['default: ', (rest) => defaultText(rest)],
  ['configured: ', (tool) => `by the settings for ${tool}`],
  ['remembered: ', (tool) => `by your answer for ${tool}`],
  ['needs approval: ', (tool) => `${tool} always needs a yes`],
  ['credential path: ', (path) => `there may be credentials in ${path}`],
  ['denied path: ', (path) => `your configuration denies ${path}`],
  ['opaque command: ', (part) => `what it does cannot be read from the command: ${part}`],
]

/** Why a call asks or may not run, in words for a person; the reason of a decision as it is, where it is in words already. */
export function reasonText(reason: string): string {
  if (Object.hasOwn(whole, reason)) return whole[reason] as string
  const [code, words] = begun.find(([start]) => reason.startsWith(start)) ?? []
  return code === undefined || words === undefined ? reason : words(reason.slice(code.length))
}

/** Of `code/exec/cli`. */
function defaultText(rest: string): string {
  const [dataClass, operation] = rest.split('/')
  const deed = deedText(operation, dataClass)
  return deed === '' ? rest : `it ${deed}`
}
