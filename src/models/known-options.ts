import { EntiaError } from '../world/entia-error.ts'

/** Refuses options that a function does not know: most often a misspelt name. */
export function refuseUnknownOptions(where: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new EntiaError(
    'invalid-argument',
    `${where} has no option "${unknown}"; it takes ${known.join(', ')}. Check the spelling.`,
    { option: unknown },
  )
}
