import { EntiaError } from '../world/entia-error.ts'
import type { Append } from './medium.ts'

/**
 * Checks that an append leaves no gap behind the lines that are there.
 *
 * @param place where the transcript lies, for the message
 * @throws `invalid-argument`
 */
export function assertReached({ key, from }: Append, lineCount: number, place: string): void {
  if (from <= lineCount) return
  throw new EntiaError(
    'invalid-argument',
    `An append to the transcript '${key}' in ${place} is refused: it begins at line ${from}, and ${lineCount} lines are ` +
      'there. Append the lines between them first. Lines count from 0.',
    { key, place, line: from, lineCount },
  )
}

/**
 * Checks that an append repeats what is there.
 *
 * @param there the lines that are there from the place of its first line on
 * @throws `invalid-argument`
 */
export function assertRepeated({ key, lines, from }: Append, there: readonly string[], place: string): void {
  const other = lines.findIndex(({ text }, index) => index < there.length && text !== there[index])
  if (other === -1) return
  const line = from + other
  throw new EntiaError(
    'invalid-argument',
    `An append to the transcript '${key}' in ${place} is refused: line ${line} is there and has another text. ` +
      'What is in a transcript stays: read it, and append behind its end.',
    { key, place, line },
  )
}
