import type { Failure, FailureKind } from '../protocol/failure.ts'
import type { AssistantMessage } from '../protocol/message.ts'
import type { TokenCounts } from '../rules/tokens/token-counts.ts'
import { cutText } from '../rules/text/cut-text.ts'
import type { ModelOutcome } from './port.ts'

/** A failed call, as adapters read it from their SDK's error. */
export interface ProviderError {
  readonly message: string
  /** Absent for an error within a stream, and without an answer. */
  readonly status?: number | undefined
  /** The provider's error codes, the most specific first. */
  readonly names?: readonly string[] | undefined
  readonly headers?: Headers | undefined
  /** No answer: unreachable, or silent for too long. */
  readonly silent?: 'unreachable' | 'timed-out' | undefined
  /** Sent with a success status instead of a stream. */
  readonly isNoStream?: boolean | undefined
}

/** Limit in characters: a proxy may answer with a web page. */
const MAX_MESSAGE_LENGTH = 1_000

/** Codes more specific than their status. */
const kindOfName: Readonly<Record<string, FailureKind>> = {
  context_length_exceeded: 'context-overflow',
  exceed_context_size_error: 'context-overflow',
  request_too_large: 'context-overflow',
  // Sent as 429, but retrying does not help: the user must act.
  insufficient_quota: 'unauthorized',
  exceeded_current_quota_error: 'unauthorized',
  billing_error: 'unauthorized',
  contract_spend_limit_reached: 'unauthorized',
  enforced_spend_limit_reached: 'unauthorized',
  invalid_api_key: 'unauthorized',
  bio_policy: 'refused',
  content_filter: 'refused',
  content_policy_violation: 'refused',
  image_content_policy_violation: 'refused',
  invalid_prompt: 'refused',
  misalignment_policy_violation: 'refused',
}

/** Broad codes, for errors within a stream, which have no status. */
const kindOfBroadName: Readonly<Record<string, FailureKind>> = {
  authentication_error: 'unauthorized',
  permission_error: 'unauthorized',
  not_found_error: 'invalid-request',
  invalid_request_error: 'invalid-request',
  rate_limit_error: 'rate-limited',
  rate_limit_exceeded: 'rate-limited',
}

/** Texts of providers without a code for a too long prompt. */
const overflowText =
  /prompt is too long|exceeds? (the )?context|context (window|length|size)|exceeded model token limit/i

/** A finished answer; `isCut`: at the token limit. */
export function replied(
  model: string,
  content: AssistantMessage['content'],
  { isCut, counts }: { readonly isCut: boolean; readonly counts: TokenCounts },
): ModelOutcome {
  const stop = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'end'
  const message = { role: 'assistant', content, model } as const
  return { ok: true, value: { message, stop: isCut ? 'max-tokens' : stop, ...counts } }
}

export function failed(failure: Failure): ModelOutcome {
  return { ok: false, failure }
}

/** The only place that decides the kind of a provider's failure. */
export function failureOf(provider: string, error: ProviderError): Failure {
  const kind = kindOf(error)
  const retryAfterMs = kind === 'rate-limited' || kind === 'overloaded' ? retryAfterOf(error.headers) : undefined
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
  return kind === 'invalid-request' && overflowText.test(message) ? 'context-overflow' : kind
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
  // 408, 409: connection or lock lost at the provider.
  if (status === 408 || status === 409 || status >= 500) return 'overloaded'
  return 'invalid-request'
}

function lookUp(table: Readonly<Record<string, FailureKind>>, names: readonly string[]): FailureKind | undefined {
  const name = names.find((candidate) => Object.hasOwn(table, candidate))
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
  // A date begins with a letter or a year; else "-5" would be one.
  if (!/^([a-z]|\d{4}-)/i.test(value)) return undefined
  const waitMs = Date.parse(value) - Date.parse(headers?.get('date') ?? '')
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs)
}

/** Unsigned, capped to what a World can hold. */
function numberIn(text: string | null | undefined): number | undefined {
  const value = text?.trim() ?? ''
  if (!/^(\d+(\.\d+)?(e\+?\d+)?|infinity)$/i.test(value)) return undefined
  return Math.min(/^i/i.test(value) ? Infinity : Number(value), Number.MAX_SAFE_INTEGER)
}
