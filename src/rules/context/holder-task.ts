import type { Message } from '../../protocol/message.ts'
import { textOf } from '../projection/text-of.ts'
import { cutText } from '../text/cut-text.ts'

const maxChars = 80

/** What a holder is for: the first line of the message that opened its turn. */
export function holderTask(opening: Message | undefined): string {
  const line = taskLine(textOf(opening))
  return `Archive: ${line === '' ? '(no prompt)' : line}`
}

/** The first line of a prompt, cut so that it stands in a list. */
export function taskLine(prompt: string): string {
  const [line = ''] = prompt.trim().split(/\r\n|\r|\n/, 1)
  return cutText(line.trimEnd(), maxChars, '...')
}
