/** What a session can be. The last four are final. */
export const sessionStatuses = ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled'] as const
export type SessionStatus = (typeof sessionStatuses)[number]

/** What a session can become. */
const transitions: Readonly<Record<SessionStatus, readonly SessionStatus[]>> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['succeeded', 'failed', 'timed_out', 'cancelled'],
  succeeded: [],
  failed: [],
  timed_out: [],
  cancelled: [],
}

/** Has a session ended for good? */
export function isFinal(status: SessionStatus): boolean {
  return transitions[status].length === 0
}

/** Why a session cannot go from one state to another; `undefined` if it can. */
export function transitionProblem(before: SessionStatus, after: SessionStatus): string | undefined {
  if (transitions[before].includes(after)) return undefined
  return `it is ${before}${isFinal(before) ? ', which is final' : ''}, and cannot become ${after}`
}
