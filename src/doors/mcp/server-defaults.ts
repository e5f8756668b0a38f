/** What `serve` does where its options do not say. */
export const serverDefaults = {
  host: '127.0.0.1',
  /** Sessions of clients of 2025-11-25 and older that are open at a time. */
  maxSessions: 100,
  /** How long such a session is kept without a request, in milliseconds. */
  sessionIdleMs: 30 * 60_000,
  /** Size of one request's body. */
  maxBodyBytes: 4 * 1024 * 1024,
  /** Requests that are answered at a time. */
  maxRequests: 100,
} as const
