import type { AnsweredTool } from '../ask-event.ts'
import type { Row } from './screen.ts'
import type { Style } from './styled-line.ts'
import { callText, resultText } from './tool-text.ts'

export interface ToolRowOptions {
  readonly nameOf: (sessionId: string) => string
  /** Of all of it. */
  readonly style?: Style | undefined
  /** Before the call: whose it is. */
  readonly lead?: string | undefined
}

/** A tool call and what came of it, as a line. */
export function toolRow(answered: AnsweredTool, { nameOf, style, lead = '' }: ToolRowOptions): Row {
  const { tool, arguments: input, text, isError } = answered
  const [mark, markStyle] = isError ? (['✗', 'red'] as const) : (['✓', 'green'] as const)
  const call = lead + callText(tool, input, nameOf)
  return { mark, markStyle: style ?? markStyle, text: call, note: resultText(tool, text, isError) }
}
