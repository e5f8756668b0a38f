import { Outcome } from '../components/outcome.ts'
import type { Initial } from '../src/world/component.ts'

/** A tool's text, and whether it is an error: that is never read from the text. */
export interface AnswerText {
  readonly text: string
  readonly isError: boolean
}

/** The outcome of a tool call that is answered with a text. */
export function textOutcome({ text, isError }: AnswerText): Initial {
  return Outcome({ ok: true, value: { content: [{ type: 'text', text }], ...(isError && { isError }) } })
}
