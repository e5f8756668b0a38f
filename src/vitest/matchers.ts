import { z } from 'zod'
import { SubagentSession, type SubagentSessionData } from '../../components/sessions/subagent-session.ts'
import type { JsonObject } from '../base/json.ts'
import type { Entity } from '../world/component.ts'
import { inspect } from '../base/inspect.ts'
import { callsOf, type Seen, sessionsIn, talksIn } from './world-queries.ts'
import { cutText } from '../base/cut-text.ts'

export interface Matched {
  readonly pass: boolean
  readonly message: () => string
}

/** As `toMatchObject`: partial, with asymmetric matchers. */
export type Matches = (actual: unknown, expected: unknown) => boolean

/** A text contained in it, a pattern, or an asymmetric matcher. */
export type ExpectedAnswer = string | RegExp | { asymmetricMatch(answer: unknown): boolean; toString(): string }

/** @throws TypeError if `expected` cannot be compared with a text */
export function haveAnswered(seen: Seen, expected: ExpectedAnswer, agent?: Entity): Matched {
  if (!isComparable(expected)) {
    throw new TypeError(`toHaveAnswered() takes a text or a regular expression, got ${inspect(expected)}`)
  }
  const answers = talksIn(seen, agent)
  const pass = answers.some(({ answer }) => answer !== undefined && holds(answer, expected))
  const got = answers.map(({ who, answer }) => `  ${who}: ${answer === undefined ? 'nothing' : JSON.stringify(answer)}`)
  const wanted = `${pass ? 'no agent' : 'an agent'} to have answered ${shown(expected)}`
  return { pass, message: () => expectedText(wanted, got) }
}

/** @throws TypeError unless `tool` is a text */
export function haveCalled(seen: Seen, tool: string, expected: JsonObject | undefined, matches: Matches): Matched {
  if (typeof tool !== 'string') throw new TypeError(`toHaveCalled() takes a tool's name, got ${inspect(tool)}`)
  const calls = talksIn(seen).flatMap((talk) => callsOf(talk).map((call) => ({ who: talk.who, call })))
  const pass = calls.some(
    ({ call }) => call.name === tool && (expected === undefined || matches(call.arguments, expected)),
  )
  const got = calls.map(({ who, call }) => `  ${who}: ${call.name}(${JSON.stringify(call.arguments)})`)
  const how = expected === undefined ? '' : ` with ${shown(expected)}`
  return { pass, message: () => expectedText(`'${tool}' ${pass ? 'never ' : ''}to have been called${how}`, got) }
}

/** @throws TypeError for fields that no session has */
export function haveSession(seen: Seen, expected: Partial<SubagentSessionData>, matches: Matches): Matched {
  checkSession(expected)
  const sessions = sessionsIn(seen)
  const pass = sessions.some((session) => matches(session, expected))
  const got = sessions.map(({ sequence, category, status, prompt }) => {
    return `  session ${sequence}: ${category}, ${status}, ${JSON.stringify(cutText(prompt, maxChars))}`
  })
  return { pass, message: () => expectedText(`${pass ? 'no session' : 'a session'} like ${shown(expected)}`, got) }
}

/** @throws TypeError unless `run` is a result */
export function haveKeptLaws(run: { readonly ok: boolean }, report: () => string): Matched {
  if (typeof run?.ok !== 'boolean') {
    throw new TypeError(`expected what simulate() or sweep() gives, got ${inspect(run)}`)
  }
  return { pass: run.ok, message: () => (run.ok ? 'expected a law to have been broken; all were kept' : report()) }
}

const maxChars = 60
const maxListed = 20

/** Otherwise `not` would pass. */
function isComparable(expected: unknown): expected is ExpectedAnswer {
  return typeof expected === 'string' || expected instanceof RegExp || isAsymmetric(expected)
}

function isAsymmetric(expected: unknown): expected is Exclude<ExpectedAnswer, string | RegExp> {
  return typeof expected === 'object' && expected !== null && 'asymmetricMatch' in expected
}

function checkSession(expected: unknown): void {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) {
    throw new TypeError(`toHaveSession() takes fields of a session's record, got ${inspect(expected)}`)
  }
  if (isAsymmetric(expected)) return
  const { schema } = SubagentSession
  const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const unknown = Object.keys(expected).find((field) => !fields.includes(field))
  if (unknown === undefined) return
  throw new TypeError(`toHaveSession(): no session has a field "${unknown}"; it has ${fields.join(', ')}`)
}

function holds(answer: string, expected: ExpectedAnswer): boolean {
  if (typeof expected === 'string') return answer.includes(expected)
  // One with the flag `g` remembers where it was.
  return expected instanceof RegExp ? new RegExp(expected).test(answer) : expected.asymmetricMatch(answer)
}

function shown(expected: unknown): string {
  if (expected instanceof RegExp) return String(expected)
  return isAsymmetric(expected) ? `${expected.toString()} ${JSON.stringify(expected)}` : JSON.stringify(expected)
}

function expectedText(wanted: string, got: readonly string[]): string {
  const rest = got.length > maxListed ? [`  … and ${got.length - maxListed} more`] : []
  const lines = got.length === 0 ? ['  nothing'] : [...got.slice(0, maxListed), ...rest]
  return [`expected ${wanted}; there was:`, ...lines].join('\n')
}
