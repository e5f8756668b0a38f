import { Outcome } from '../../components/effects/outcome.ts'
import type { Entity, Initial } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'

/** A tool's text, and whether it is an error: that is never read from the text. */
export interface AnswerText {
  readonly text: string
  readonly isError: boolean
}

/** The outcome of a tool call that is answered with a text. */
export function textOutcome({ text, isError }: AnswerText): Initial {
  return Outcome({ ok: true, value: { content: [{ type: 'text', text }], ...(isError && { isError }) } })
}

/** Answers a call with what is wrong. Whoever does so collects the result. */
export function refuseCall(world: World, call: Entity, problem: string): void {
  world.add(call, textOutcome({ text: `Error: ${problem}`, isError: true }))
}
