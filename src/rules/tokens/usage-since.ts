import type { CallUsage } from '../../protocol/usage.ts'

const counts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output', 'costNanoUsd'] as const

/** What was used since an account stood at `before`; `undefined`: no call was made. */
export function usageSince(now: CallUsage | undefined, before: CallUsage | undefined): CallUsage | undefined {
  const calls = (now?.calls ?? 0) - (before?.calls ?? 0)
  if (now === undefined || calls === 0) return undefined
  const since: { -readonly [K in keyof CallUsage]: CallUsage[K] } = { calls }
  for (const name of counts) {
    const used = now[name]
    // A count that grew was reported.
    if (used !== undefined && used > (before?.[name] ?? 0)) since[name] = used - (before?.[name] ?? 0)
  }
  return since
}
