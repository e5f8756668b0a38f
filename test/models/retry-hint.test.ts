import { describe, expect, it } from 'vitest'
import { retryHintIn } from '../../src/models/retry-hint.ts'

describe('a hint to wait', () => {
  it.each([
    [{ retryDelay: '1.5s' }, '', 1_500],
    [{ retryDelay: { seconds: '7', nanos: 500_000_000 } }, '', 7_500],
    [{ retry_after: 3 }, '', 3_000],
    [{ retry_after: '3' }, '', 3_000],
    [{ retryAfterMs: 250 }, '', 250],
    [{ details: [{}, { retryDelay: '2s' }] }, '', 2_000],
    [{ details: { retryDelay: '7s' } }, '', 7_000],
    [{ metadata: { retry_after_seconds: 7 } }, '', 7_000],
    [{}, 'Try again in 500ms.', 500],
    [{}, 'reached max organization concurrency: 1, please try again after 1 seconds', 1_000],
    [{ retry_after: '2.5' }, '', 2_500],
    [{}, 'Please wait 2 minutes and 5 seconds', 125_000],
    [{}, 'Please try your request again in 7m12.48s', 432_480],
    [{}, 'Limit resets in 1h30m', 5_400_000],
    [{ retryDelay: '-3s', retry_after: -3 }, 'It was tried 3 times.', undefined],
    [{}, 'Retry 3 requests', undefined],
  ])('is read: %j %s', (fields, text, ms) => {
    expect(retryHintIn(fields, text)).toBe(ms)
  })
})
