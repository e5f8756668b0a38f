import type { CallUsage, TokenUsage } from '../../protocol/usage.ts'
import { cutText } from '../../base/cut-text.ts'

/** Larger counts are mistakes. */
const maxCount = 1_000_000_000
const maxShownChars = 100

/** Token counts as the provider sent them, unchecked. */
export type SentCounts = { readonly [Name in keyof TokenUsage]?: unknown }

/** The valid counts of a call, and the others. */
export interface TokenCounts {
  readonly usage: TokenUsage
  /** Counts that are no integers from 0 to a billion, by name, as sent. Absent: none. */
  readonly oddCounts?: Readonly<Record<string, string>> | undefined
}

const names = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const

/** Reads a call's counts. An absent, null or odd count is unknown. */
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

/** Further counts of a protocol, unchecked. */
interface Sums {
  readonly total?: unknown
  readonly reasoning?: unknown
}

/**
 * Reads counts of a protocol that counts cached input as input: it is subtracted here. Some servers count reasoning beside the
 * output: it is added, if the total says so, or if there is no total and more of it than output.
 * @param sent `input` includes `cacheRead` and `cacheWrite`
 */
export function readInclusiveCounts(
  { input, cacheRead, cacheWrite, output }: SentCounts,
  sums: Sums = {},
): TokenCounts {
  const cached = (isCount(cacheRead) ? cacheRead : 0) + (isCount(cacheWrite) ? cacheWrite : 0)
  const uncached = isCount(input) ? Math.max(0, input - cached) : input
  return readCounts({ input: uncached, cacheRead, cacheWrite, output: wholeOutput(input, output, sums) })
}

function wholeOutput(input: unknown, output: unknown, { reasoning, total }: Sums): unknown {
  if (!isCount(output) && output !== undefined && output !== null) return output
  if (isCount(total) && isCount(input) && total > 0) {
    const rest = total - input
    return rest > (isCount(output) ? output : 0) ? rest : output
  }
  if (!isCount(reasoning)) return output
  if (!isCount(output)) return reasoning
  return reasoning > output ? output + reasoning : output
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount
}

function shown(value: unknown): string {
  if (typeof value === 'string') return cutText(JSON.stringify(value), maxShownChars)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : 'an object'
}

/**
 * Tokens that a model read: input, cache read and cache write, which never overlap. An absent cache count adds nothing;
 * without input the sum is unknown.
 */
export function promptTokensOf({ input, cacheRead = 0, cacheWrite = 0 }: TokenUsage): number | undefined {
  return input === undefined ? undefined : input + cacheRead + cacheWrite
}

interface Counts {
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly cacheWrite1h?: number | undefined
  readonly calls?: number | undefined
  readonly costNanoUsd?: number | undefined
  readonly costUnknown?: number | undefined
  readonly estimated?: number | undefined
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly unpriced?: number | undefined
}

/** How many calls have an unknown cost: cut before the provider said what they used, or without a price. */
export function unknownCosts({ calls = 0, costNanoUsd, costUnknown }: Counts): number {
  return costUnknown ?? (costNanoUsd === undefined ? calls : 0)
}

/** What calls cost together, in billionths of a US dollar; `undefined`: the cost of one of them is unknown. */
export function knownCost(counts: Counts): number | undefined {
  return unknownCosts(counts) > 0 ? undefined : (counts.costNanoUsd ?? 0)
}

/** `costUnknown` as totals hold it: only where `unknownCosts` would not give that number without it. */
function heldUnknown(unknown: number, costNanoUsd: number | undefined, isNamed: boolean): number | undefined {
  return unknown > 0 && (costNanoUsd !== undefined || isNamed) ? unknown : undefined
}

/** What `withAdded` adds, sorted. */
const sumNames = [
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'calls',
  'costNanoUsd',
  'costUnknown',
  'estimated',
  'input',
  'output',
  'unpriced',
] as const

/** Adds counts name by name, in a new object with sorted keys. A count unknown on both sides stays unknown. */
export function withAdded<T extends Counts>(counts: T, more: { readonly [K in keyof T]?: number | undefined }): T {
  const add: Counts = more
  const sums: { -readonly [K in keyof Counts]: Counts[K] } = {}
  for (const name of sumNames) {
    const before = counts[name]
    const now = add[name]
    if (name === 'costUnknown') {
      const isNamed = before !== undefined || now !== undefined
      const unknown = heldUnknown(unknownCosts(counts) + unknownCosts(add), sums.costNanoUsd, isNamed)
      if (unknown !== undefined) sums.costUnknown = unknown
    } else if (now !== undefined) sums[name] = (before ?? 0) + now
    else if (before !== undefined) sums[name] = before
  }
  return sums as T
}

const counted = [...names, 'calls', 'costNanoUsd', 'delegatedTokens', 'sessions'] as const

type Counted = { readonly [Name in (typeof counted)[number]]?: number | undefined } & {
  readonly costUnknown?: number | undefined
}

function eachCount<T extends Counted>(
  before: T | undefined,
  now: T,
  of: (before: number | undefined, now: number | undefined) => number | undefined,
): T {
  const counts: { -readonly [Name in keyof Counted]: number } = {}
  for (const name of counted) {
    const count = of(before?.[name], now[name])
    if (count !== undefined) counts[name] = count
  }
  const isNamed = before?.costUnknown !== undefined || now.costUnknown !== undefined
  const unknown = of(unknownCosts(before ?? {}), unknownCosts(now)) ?? 0
  const costUnknown = heldUnknown(unknown, counts.costNanoUsd, isNamed)
  if (costUnknown !== undefined) counts.costUnknown = costUnknown
  return counts as T
}

/** By how much each known count grew: 0 for one that shrank. */
export function growthOf<T extends Counted>(before: T | undefined, now: T): T {
  return eachCount(before, now, (from = 0, to) => (to === undefined ? undefined : Math.max(0, to - from)))
}

/** Both together; a count unknown on both sides stays unknown. */
export function sumOf<T extends Counted>(before: T | undefined, more: T): T {
  return eachCount(before, more, added)
}

/** The higher value of each count. */
export function highestOf<T extends Counted>(before: T | undefined, now: T): T {
  return eachCount(before, now, (from, to) => (to === undefined ? from : Math.max(from ?? to, to)))
}

/** What was used since `before`, without counts that did not grow; `undefined`: no call was made. */
export function usageSince(now: CallUsage | undefined, before: CallUsage | undefined): CallUsage | undefined {
  if (now === undefined || now.calls === (before?.calls ?? 0)) return undefined
  const since = eachCount(before, now, (from = 0, to = 0) => (to > from ? to - from : undefined))
  // Calls that cost nothing have a cost.
  const isFree = since.costNanoUsd === undefined && unknownCosts(now) - unknownCosts(before ?? {}) < since.calls
  return isFree ? { ...since, costNanoUsd: 0 } : since
}

/** Adds counts; unknown if both are. */
export function added(before: number | undefined, more: number | undefined): number | undefined {
  return more === undefined ? before : (before ?? 0) + more
}
