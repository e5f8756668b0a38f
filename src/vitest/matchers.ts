import type { SubagentSessionData } from '../../components/subagent-session.ts'
import type { JsonObject } from '../world/json.ts'
import type { Entity } from '../world/component.ts'
import { callsOf, type Seen, sessionsIn, talksIn } from './seen-worlds.ts'

/** What vitest asks of a matcher. */
export interface Matched {
  readonly pass: boolean
  readonly message: () => string
}

/** Compares as `toMatchObject` does: what is not named does not count, and asymmetric matchers do. */
export type Matches = (actual: unknown, expected: unknown) => boolean

/** Has an agent answered with this? A text is looked for anywhere in the answer. */
export function haveAnswered(seen: Seen, expected: string | RegExp, agent?: Entity): Matched {
  const answers = talksIn(seen, agent)
  const pass = answers.some(({ answer }) => answer !== undefined && holds(answer, expected))
  const came = answers.map(
    ({ who, answer }) => `  ${who}: ${answer === undefined ? 'nothing' : JSON.stringify(answer)}`,
  )
  const wanted = `${pass ? 'no agent' : 'an agent'} to have answered ${shown(expected)}`
  return { pass, message: () => told(wanted, came) }
}

/** Has an agent's model called a tool, with arguments that match, if any are named? */
export function haveCalled(seen: Seen, tool: string, expected: JsonObject | undefined, matches: Matches): Matched {
  const calls = talksIn(seen).flatMap((talk) => callsOf(talk).map((call) => ({ who: talk.who, call })))
  const pass = calls.some(
    ({ call }) => call.name === tool && (expected === undefined || matches(call.arguments, expected)),
  )
  const came = calls.map(({ who, call }) => `  ${who}: ${call.name}(${JSON.stringify(call.arguments)})`)
  const how = expected === undefined ? '' : ` with ${shown(expected)}`
  return { pass, message: () => told(`'${tool}' ${pass ? 'never ' : ''}to have been called${how}`, came) }
}

/** Is there a session that matches? */
export function haveSession(seen: Seen, expected: Partial<SubagentSessionData>, matches: Matches): Matched {
  const sessions = sessionsIn(seen)
  const pass = sessions.some((session) => matches(session, expected))
  const came = sessions.map(({ sequence, category, status, prompt }) => {
    return `  session ${sequence}: ${category}, ${status}, ${JSON.stringify(prompt.slice(0, maxChars))}`
  })
  return { pass, message: () => told(`${pass ? 'no session' : 'a session'} like ${shown(expected)}`, came) }
}

/** Has a run, or a sweep of many, kept all laws? */
export function haveKeptLaws(run: { readonly ok: boolean }, report: () => string): Matched {
  return { pass: run.ok, message: () => (run.ok ? 'expected a law to have been broken; all were kept' : report()) }
}

const maxChars = 60
/** So many lines of what came are shown. */
const maxCame = 20

function holds(answer: string, expected: string | RegExp): boolean {
  return typeof expected === 'string' ? answer.includes(expected) : new RegExp(expected).test(answer)
}

function shown(expected: unknown): string {
  return expected instanceof RegExp ? String(expected) : JSON.stringify(expected)
}

function told(wanted: string, came: readonly string[]): string {
  const rest = came.length > maxCame ? [`  … and ${came.length - maxCame} more`] : []
  const lines = came.length === 0 ? ['  nothing'] : [...came.slice(0, maxCame), ...rest]
  return [`expected ${wanted}; there was:`, ...lines].join('\n')
}
