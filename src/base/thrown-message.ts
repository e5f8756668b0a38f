import { inspect } from './inspect.ts'
import { cutText } from './cut-text.ts'

/** Longest message made from a thrown value, in characters. */
export const maxThrownChars = 2_000

const maxCauses = 4

/** What these are thrown with says all of it: a person is told no class. */
const namesOfSentences: ReadonlySet<unknown> = new Set(['Error', 'EntiaError'])

const inspectOptions = {
  depth: 2,
  breakLength: Infinity,
  customInspect: false,
  maxArrayLength: 20,
  maxStringLength: 500,
}

/**
 * A message for any thrown value: its name, if that tells something, its message and its causes, at most `maxThrownChars` long. Never throws itself, even if
 * the value's getters do.
 */
export function thrownMessage(value: unknown): string {
  try {
    return cutText(describe(value, maxCauses).toWellFormed(), maxThrownChars, '…')
  } catch {
    return 'something was thrown that cannot be read'
  }
}

function describe(value: unknown, causesLeft: number): string {
  if (typeof value === 'string')
    return value.trim() === '' ? 'an empty text was thrown' : cutText(value, maxThrownChars + 1)
  if (isErrorLike(value)) return describeError(value, causesLeft)
  return `${cutText(inspect(value, inspectOptions), maxThrownChars)} was thrown`
}

function describeError(error: ErrorLike, causesLeft: number): string {
  const said = [error.message, error.code].find((text) => typeof text === 'string' && text !== '')
  const head = [namesOfSentences.has(error.name) ? undefined : error.name, said]
    .filter((part) => typeof part === 'string' && part !== '')
    .map((part) => cutText(String(part), maxThrownChars + 1))
    .join(': ')
  const causes = Array.isArray(error.errors) ? error.errors.slice(0, 3) : isSaid(error.cause, head) ? [] : [error.cause]
  const behind = causes.filter((cause) => cause !== undefined && cause !== null && causesLeft > 0)
  if (behind.length === 0) return head === '' ? 'an error without a message was thrown' : head
  return `${head === '' ? 'Error' : head} (${behind.map((cause) => describe(cause, causesLeft - 1)).join('; ')})`
}

/** Many errors repeat their cause's message in their own. */
function isSaid(cause: unknown, head: string): boolean {
  if (!isErrorLike(cause) || cause.cause !== undefined || cause.errors !== undefined) return false
  return typeof cause.message === 'string' && cause.message !== '' && head.includes(`: ${cause.message}`)
}

interface ErrorLike {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly cause?: unknown
  readonly errors?: unknown
}

/** Errors of other realms and plain objects with a message count too. */
function isErrorLike(value: unknown): value is ErrorLike {
  if (typeof value !== 'object' || value === null) return false
  return value instanceof Error || ('message' in value && typeof value.message === 'string')
}
