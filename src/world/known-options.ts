import { EntiaError } from './entia-error.ts'

/** Refuses options that a function does not know: most often a misspelt name. @throws `invalid-argument` */
export function refuseUnknownOptions(where: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const message = `${where}: unknown option ${unknown.join(', ')}. Known: ${known.join(', ')}.`
  throw new EntiaError('invalid-argument', message, { option: unknown[0] })
}
