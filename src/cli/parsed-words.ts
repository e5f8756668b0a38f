import { parseArgs, type ParseArgsConfig } from 'node:util'

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
    throw new UsageError(error.message.split('. ')[0]?.replace(/\.?$/, '.') ?? error.message)
  }
}

export function wholeNumber(option: string, text: string | undefined, min: number): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (value >= min) return value
  throw new UsageError(`${option} must be an integer ≥ ${min}, got ${text}.`)
}
