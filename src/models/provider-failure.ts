import type { Failure, FailureKind } from '../protocol/failure.ts'
import type { AssistantMessage } from '../protocol/message.ts'
import type { TokenCounts } from '../rules/tokens/token-counts.ts'
import { cutText } from '../base/cut-text.ts'
import { isOverflowText, isRefusalText, isUnpaidText, kindOfBroadName, kindOfName } from './error-words.ts'
import type { ModelOutcome } from './port.ts'
import { durationAt } from './retry-hint.ts'

/** A failed call, as adapters read it from their SDK's error. */
export interface ProviderError {
  readonly message: string
  /** Absent for an error within a stream, and without an answer. */
  readonly status?: number | undefined
  /** The provider's error codes, the most specific first. */
  readonly names?: readonly string[] | undefined
  readonly headers?: Headers | undefined
  /** As its text or a field says. */
  readonly retryAfterMs?: number | undefined
  /** No answer: unreachable, or silent for too long. */
  readonly silent?: 'unreachable' | 'timed-out' | undefined
  /** Sent with a success status instead of a stream. */
  readonly isNoStream?: boolean | undefined
}

/** Limit in characters: a proxy may answer with a web page. */
const MAX_MESSAGE_LENGTH = 1_000

/** A finished answer; `isCut`: at the token limit. */
export function replied(
  model: string,
  said: Pick<AssistantMessage, 'content' | 'extra'>,
  { isCut, counts }: { readonly isCut: boolean; readonly counts: TokenCounts },
): ModelOutcome {
  const stop = said.content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end'
  const message = { role: 'assistant', ...said, model } as const
  return { ok: true, value: { message, stop: isCut ? 'max-tokens' : stop, ...counts } }
}

export function failed(failure: Failure): ModelOutcome {
  return { ok: false, failure }
}

/** The only place that decides the kind of a provider's failure. */
export function failureOf(provider: string, error: ProviderError): Failure {
  const kind = kindOf(error)
  const isWaiting = kind === 'rate-limited' || kind === 'overloaded'
  const retryAfterMs = isWaiting
    ? (retryAfterOf(error.headers) ?? error.retryAfterMs ?? resetOf(error.headers))
    : undefined
  return {
    kind,
    message: describe(provider, error),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

function kindOf({ status, names = [], message, silent, isNoStream }: ProviderError): FailureKind {
  if (silent !== undefined) return silent === 'timed-out' ? 'timed-out' : 'overloaded'
  if (isRedirect(status)) return 'invalid-request'
  // A server without a stream would answer the same again.
  const unnamed = isNoStream === true ? 'invalid-request' : 'overloaded'
  const kind = lookUp(kindOfName, names) ?? kindOfStatus(status) ?? lookUp(kindOfBroadName, names) ?? unnamed
  if (kind === 'unauthorized') return status === 403 && isRefusalText(message) ? 'refused' : kind
  if (kind !== 'invalid-request' && kind !== 'overloaded' && kind !== 'rate-limited') return kind
  if (isUnpaidText(message)) return 'unauthorized'
  if (isOverflowText(message)) return kind === 'rate-limited' && !/too large/i.test(message) ? kind : 'context-overflow'
  return kind === 'invalid-request' && isRefusalText(message) ? 'refused' : kind
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400
}

function kindOfStatus(status: number | undefined): FailureKind | undefined {
  if (status === undefined || status < 400) return undefined
  if (status === 401 || status === 402 || status === 403) return 'unauthorized'
  // Too many bytes: only a shorter conversation helps.
  if (status === 413) return 'context-overflow'
  if (status === 429) return 'rate-limited'
  if (lost.has(status) || status >= 500) return 'overloaded'
  return 'invalid-request'
}

/** Connection, lock, backend or room lost at the provider. */
const lost: ReadonlySet<number> = new Set([408, 409, 424, 425, 498, 499])

function lookUp(table: Readonly<Record<string, FailureKind>>, names: readonly string[]): FailureKind | undefined {
  const name = names.map((each) => each.toLowerCase()).find((each) => Object.hasOwn(table, each))
  return name === undefined ? undefined : table[name]
}

function describe(provider: string, error: ProviderError): string {
  const { status, names, message, silent, isNoStream, headers } = error
  if (isRedirect(status)) {
    const what = `${provider} redirected the call (${status}) to ${hostOf(headers?.get('location'))}`
    return `${what}. Redirects of model calls are refused. Set baseURL to the address that is to be called.`
  }
  const text = cutText(message, MAX_MESSAGE_LENGTH).toWellFormed()
  if (silent === 'unreachable') return `${provider} could not be reached: ${text}`
  if (silent === 'timed-out') return `${provider} did not answer in time: ${text}`
  const facts = [status, names?.[0]].filter((fact) => fact !== undefined).join(' ')
  const verb = isNoStream === true ? 'answered without a stream' : 'failed'
  return `${provider} ${verb}${facts && ` (${facts})`}: ${text}`
}

/** The address may be relative or absent. */
function hostOf(location: string | null | undefined): string {
  const base = 'http://same.invalid'
  if (location === null || location === undefined || !URL.canParse(location, base)) return 'an unknown address'
  const { host, protocol, origin } = new URL(location, base)
  if (origin === base) return 'another path of the same server'
  return host === '' ? `an address with ${protocol}` : cutText(host, MAX_MESSAGE_LENGTH)
}

/** In milliseconds. A date is relative to the response's own `date` header, so that no clock has to be right. */
function retryAfterOf(headers: Headers | undefined): number | undefined {
  const milliseconds = numberIn(headers?.get('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const value = headers?.get('retry-after')?.trim() ?? ''
  const seconds = numberIn(value)
  if (seconds !== undefined) return Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER)
  return untilDate(value, headers)
}

/** @returns `undefined`: it is no date */
function untilDate(value: string, headers: Headers | undefined): number | undefined {
  // It begins with a letter or a year; else "-5" would be one.
  if (!/^([a-z]|\d{4}-)/i.test(value)) return undefined
  const waitMs = Date.parse(value) - Date.parse(headers?.get('date') ?? '')
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs)
}

/** When the limits that are used up are reset, as providers say it: by a duration, in seconds, or at a date. */
function resetOf(headers: Headers | undefined): number | undefined {
  const resets = [...(headers ?? [])].flatMap(([name, left]) => {
    if (!/ratelimit.*remaining/.test(name) || left.trim() !== '0') return []
    const reset = headers?.get(name.replace('remaining', 'reset'))?.trim() ?? ''
    return durationAt(reset) ?? momentIn(reset, headers) ?? untilDate(reset, headers) ?? []
  })
  return resets.length === 0 ? undefined : Math.max(...resets)
}

/** From this on a number of seconds is a moment since 1970, and from a thousand times that one of milliseconds. */
const firstMomentSeconds = 1e9

function momentIn(reset: string, headers: Headers | undefined): number | undefined {
  const value = numberIn(reset)
  if (value === undefined) return undefined
  if (value < firstMomentSeconds) return Math.ceil(value * 1_000)
  const atMs = value < firstMomentSeconds * 1_000 ? value * 1_000 : value
  const waitMs = atMs - Date.parse(headers?.get('date') ?? '')
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs)
}

/** Unsigned, capped to what a World can hold. */
function numberIn(text: string | null | undefined): number | undefined {
  const value = text?.trim() ?? ''
  if (!/^(\d+(\.\d+)?(e\+?\d+)?|infinity)$/i.test(value)) return undefined
  return Math.min(/^i/i.test(value) ? Infinity : Number(value), Number.MAX_SAFE_INTEGER)
}
