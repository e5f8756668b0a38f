import type { TokenUsage } from '../../protocol/usage.ts'
import { cutText } from '../text/cut-text.ts'

/** Larger counts are mistakes: no model reads or writes as many tokens in one call. */
const maxCount = 1_000_000_000
/** Longest text of an odd count that is shown. */
const maxShownChars = 100

/** The counts of a call as they were sent: whole numbers, if all is well. */
export type SentCounts = { readonly [Name in keyof TokenUsage]?: unknown }

/** What of the usage of a call can be used, and what cannot. */
export interface TokenCounts {
  readonly usage: TokenUsage
  /** Counts that are no whole numbers from 0 to a billion, by name, as they were sent. Absent: there are none. */
  readonly oddCounts?: Readonly<Record<string, string>> | undefined
}

const names = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const

/** Reads the counts of a call. One that was not sent, or is null, is unknown; so is an odd one. */
export function readCounts(sent: SentCounts): TokenCounts {
  const usage: { -readonly [Name in keyof TokenUsage]: TokenUsage[Name] } = {}
  let oddCounts: Record<string, string> | undefined
  for (const name of names) {
    const count = sent[name]
    if (isCount(count)) usage[name] = count
    else if (count !== undefined && count !== null) (oddCounts ??= {})[name] = shown(count)
  }
  return oddCounts === undefined ? { usage } : { usage, oddCounts }
}

/**
 * The counts of a protocol that counts cached input within the input: here it is taken out of it.
 *
 * @param sent `input` includes `cacheRead` and `cacheWrite`
 */
export function readInclusiveCounts({ input, cacheRead, cacheWrite, output }: SentCounts): TokenCounts {
  const cached = (isCount(cacheRead) ? cacheRead : 0) + (isCount(cacheWrite) ? cacheWrite : 0)
  return readCounts({ input: isCount(input) ? Math.max(0, input - cached) : input, cacheRead, cacheWrite, output })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount
}

function shown(value: unknown): string {
  if (typeof value === 'string') return cutText(JSON.stringify(value), maxShownChars)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'an object'
}
