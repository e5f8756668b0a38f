import type { TokenUsage } from '../../protocol/usage.ts'

/**
 * Tokens that a model read: input, cache read and cache write, which never overlap. A cache count that was not given adds
 * nothing; without input it is not known.
 */
export function promptTokensOf({ input, cacheRead = 0, cacheWrite = 0 }: TokenUsage): number | undefined {
  return input === undefined ? undefined : input + cacheRead + cacheWrite
}
