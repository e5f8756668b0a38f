import type { CachePrice } from '../../components/last-call.ts'

/** What is known of an agent's cache when a compaction is due. */
export interface CacheFacts {
  /** Of all prompt tokens of the last call. Absent: it is not known. */
  readonly cachePrice?: CachePrice | undefined
  /** Tokens that the provider has in its cache. Absent: it does not say. */
  readonly cachedTokens?: number | undefined
  /** Tokens that are left of the prompt at most. */
  readonly leftTokens: number
  readonly promptTokens: number
  /** Of the last turn: so many are expected of the next one. */
  readonly steps: number
}

/**
 * Does a compaction lose more than it saves? It loses what the cached tokens cost more when they are written to the cache
 * anew than when they are read from it. It saves, at each step of a turn like the last one, the reading of the tokens that
 * are gone. What is not known is not weighed.
 */
export function losesMore({ cachePrice, cachedTokens, leftTokens, promptTokens, steps }: CacheFacts): boolean {
  if (cachePrice === undefined || cachedTokens === undefined) return false
  const { readNanoUsd, writeNanoUsd } = cachePrice
  const savedTokens = promptTokens > leftTokens ? promptTokens - leftTokens : 0
  // Both sides times the prompt's tokens: products of whole numbers, and no division.
  return cachedTokens * (writeNanoUsd - readNanoUsd) > savedTokens * readNanoUsd * steps
}
