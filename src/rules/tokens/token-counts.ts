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

/**
 * Tokens that a model read: input, cache read and cache write, which never overlap. A cache count that was not given adds
 * nothing; without input it is not known.
 */
export function promptTokensOf({ input, cacheRead = 0, cacheWrite = 0 }: TokenUsage): number | undefined {
  return input === undefined ? undefined : input + cacheRead + cacheWrite
}

/** What calls have used, as far as it is known. */
interface Counts {
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly cacheWrite1h?: number | undefined
  readonly calls?: number | undefined
  readonly costNanoUsd?: number | undefined
  readonly estimated?: number | undefined
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly unpriced?: number | undefined
}

/**
 * Counts with others added to them, name by name, in a new object whose keys are in order. What is not known adds nothing,
 * and is not known if nothing is.
 */
export function withAdded<T extends Counts>(counts: T, more: { readonly [K in keyof T]?: number | undefined }): T {
  const add: Counts = more
  const sums: { -readonly [K in keyof Counts]: Counts[K] } = {}
  const cacheRead = added(counts.cacheRead, add.cacheRead)
  const cacheWrite = added(counts.cacheWrite, add.cacheWrite)
  const cacheWrite1h = added(counts.cacheWrite1h, add.cacheWrite1h)
  const calls = added(counts.calls, add.calls)
  const costNanoUsd = added(counts.costNanoUsd, add.costNanoUsd)
  const estimated = added(counts.estimated, add.estimated)
  const input = added(counts.input, add.input)
  const output = added(counts.output, add.output)
  const unpriced = added(counts.unpriced, add.unpriced)
  if (cacheRead !== undefined) sums.cacheRead = cacheRead
  if (cacheWrite !== undefined) sums.cacheWrite = cacheWrite
  if (cacheWrite1h !== undefined) sums.cacheWrite1h = cacheWrite1h
  if (calls !== undefined) sums.calls = calls
  if (costNanoUsd !== undefined) sums.costNanoUsd = costNanoUsd
  if (estimated !== undefined) sums.estimated = estimated
  if (input !== undefined) sums.input = input
  if (output !== undefined) sums.output = output
  if (unpriced !== undefined) sums.unpriced = unpriced
  return sums as T
}

/** What is not known adds nothing, and is not known if nothing is. */
export function added(before: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? before : (before ?? 0) + more
}
