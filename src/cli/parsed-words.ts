import { parseArgs, type ParseArgsConfig } from 'node:util'
import { didYouMean } from '../base/near-names.ts'

/** Wrong arguments. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** @throws UsageError for an unknown option, or one without its value */
export function parsedWords<T extends NonNullable<ParseArgsConfig['options']>>(words: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...words], allowPositionals: true, options })
  } catch (error) {
    const isOurs = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
    if (!isOurs) throw error
    throw new UsageError(refusal(error.message, Object.keys(options)))
  }
}

/** What Node says of wrong options, in one sentence, with the nearest name. */
function refusal(message: string, names: readonly string[]): string {
  const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? []
  if (unknown !== undefined) {
    const known = names.map((name) => `--${name}`)
    return `There is no option ${unknown}.${didYouMean(unknown, known).replaceAll("'", '')}`
  }
  const [, option = '', said = ''] = /^Option '((?:-\w, )?--[\w-]+)[^']*' (does not|argument \w+)/.exec(message) ?? []
  if (said === 'does not') return `${option} takes no value.`
  if (said === 'argument is') return `${option} needs a value. Write one that begins with a dash behind =.`
  if (said !== '') return `${option} needs a value.`
  return (message.split(/\.\s/)[0] ?? message).replace(/\.?$/, '.')
}

export function wholeNumber(option: string, text: string | undefined, min: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (value >= min) return value
  throw new UsageError(`${option} must be an integer ≥ ${min}, got ${text}.`)
}
