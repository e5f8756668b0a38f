import { EntiaError } from '../world/entia-error.ts'

/**
 * Refuses what could not come back as it was given, before it can fail others that are written with it.
 *
 * @param where what it is a line of, for the message
 * @throws `invalid-argument`
 */
export function assertLine(line: string, where: string, details: Readonly<Record<string, unknown>>): void {
  if (typeof line === 'string' && !line.includes('\n') && line.isWellFormed()) return
  const came =
    typeof line !== 'string' ? typeof line : line.isWellFormed() ? 'a line break in it' : 'half a surrogate pair'
  throw new EntiaError(
    'invalid-argument',
    `A line of ${where} has to be one line of well-formed text; what came is ${came}. JSON.stringify makes such lines.`,
    details,
  )
}
