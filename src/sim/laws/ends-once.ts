import { SessionEnd } from '../../../components/sessions/ancestry.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'

/** Several processes: a session that has begun ends for its parent as its own World has ended, and for nobody else's word. */
export const endsOnce: Law = {
  name: 'ends-once',
  meaning:
    "A session that has begun succeeds or fails for its parent only once that is committed in the session's World.",
  concern: { set: [SubagentSession, SessionEnd] },
  watch({ processes }) {
    if (processes === 1) return {}
    const begun = new Set<string>()
    const ended = new Set<string>()
    const givenUp = new Set<string>()
    const known = new Set<string>()
    return {
      board(event) {
        if (event.type === 'given-up') givenUp.add(event.session)
        return undefined
      },
      began({ path, world }) {
        const sessionId = path.at(-1)
        if (sessionId === undefined) return undefined
        begun.add(sessionId)
        if (world.entitiesWith(SessionEnd).length > 0) ended.add(sessionId)
        return undefined
      },
      ticked(tick) {
        const sessionId = tick.path.at(-1)
        if (sessionId !== undefined && tick.changes.of(SessionEnd).set.length > 0) ended.add(sessionId)
        return endings(tick)
      },
    }

    function endings({ changes }: WatchedTick): Finding {
      for (const [, { sessionId, status }] of changes.of(SubagentSession).set) {
        if (status !== 'succeeded' && status !== 'failed') continue
        if (known.has(sessionId)) continue
        known.add(sessionId)
        if (!begun.has(sessionId) || ended.has(sessionId) || givenUp.has(sessionId)) continue
        return `session ${sessionId} has ${status} for its parent, and its World has not ended`
      }
      return undefined
    }
  },
}
