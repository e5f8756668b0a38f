import { cutText } from '../../rules/text/cut-text.ts'
import type { ToolContext } from '../../tools/port.ts'
import { standardMaxResultChars } from '../../tools/tool-output.ts'
import type { Keep } from './settings.ts'

/** Room for the note, in characters. */
const noteChars = 200

/** A text as a model gets it: the beginning of one that is too long, with a note that says what is missing and where it is. */
export async function capped(
  text: string,
  keep: Keep,
  context: ToolContext,
  maxChars = standardMaxResultChars,
): Promise<string> {
  if (text.length <= maxChars) return text
  const shown = cutText(text, Math.min(maxChars, standardMaxResultChars - noteChars))
  return `${shown}\n[${leftOutNote(text.length - shown.length, await keep(text, context))}]`
}

/** How many characters are missing, and the handle that has all of them. */
export function leftOutNote(count: number, handle: string | undefined): string {
  return `${count} characters left out${handle === undefined ? '' : `; all of it: ${handle}`}`
}
