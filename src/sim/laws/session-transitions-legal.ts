import { Effect } from '../../../components/effects/effect.ts'
import { SessionStopped } from '../../../components/sessions/ancestry.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { Finding, Law } from '../law.ts'

type Status = SubagentSessionData['status']

/**
 * The statuses a session may have after a tick, by the one before. A session may be launched and cancelled in one tick.
 */
const next: Readonly<Record<Status | 'born', readonly Status[]>> = {
  born: ['queued', 'cancelled'],
  queued: ['queued', 'running', 'failed', 'cancelled'],
  running: ['running', 'succeeded', 'failed', 'timed_out', 'cancelled'],
  succeeded: ['succeeded'],
  failed: ['failed'],
  timed_out: ['timed_out'],
  cancelled: ['cancelled'],
}

/** Fields that an ended session keeps. */
const final = ['artifactId', 'error', 'finishedAtMs', 'finishedSequence', 'recordPath', 'startedAtMs'] as const

const fixed = ['correlationId', 'kind', 'mode', 'parent', 'sequence', 'sessionId'] as const

export const sessionTransitionsLegal: Law = {
  concern: { set: [SubagentSession, SessionStopped, Effect], removed: [SubagentSession] },
  name: 'session-transitions-legal',
  meaning:
    'A session goes only where its state leads, its end is final, and stopped for good it asks for nothing more.',
  watch() {
    const worlds = new Map<string, Map<Entity, SubagentSessionData>>()
    const stopped = new Set<string>()
    /** Whoever resumes the session above it takes it over, and has it go on. */
    const isAwaited = (session: string | undefined): boolean =>
      [...worlds.values()]
        .flatMap((records) => [...records.values()])
        .some(({ sessionId, status }) => sessionId === session && next[status].length > 1)
    return {
      began({ label, world }) {
        const known = worlds.get(label)
        const now = new Map<Entity, SubagentSessionData>()
        let finding: Finding
        for (const session of world.entitiesWith(SubagentSession)) {
          const record = world.read(session, SubagentSession)
          const before = known?.get(session)
          if (before !== undefined) finding ??= moved(before, record)
          now.set(session, record)
        }
        worlds.set(label, now)
        if (world.entitiesWith(SessionStopped).length > 0) stopped.add(label)
        return finding && `when its world was restored, ${finding}`
      },
      ticked({ changes, label, path }) {
        const [asked] = changes.of(Effect).set
        if (asked !== undefined && stopped.has(label) && !isAwaited(path.at(-1))) {
          return `it was stopped, and asks for effect ${asked[0]}`
        }
        if (changes.of(SessionStopped).set.length > 0) stopped.add(label)
        const { removed, set } = changes.of(SubagentSession)
        const known = worlds.get(label)
        for (const [session, record] of set) {
          const finding = moved(known?.get(session), record)
          if (finding !== undefined) return finding
          known?.set(session, record)
        }
        const [lost] = removed
        return lost === undefined ? undefined : `session entity ${lost} has lost its record`
      },
    }
  },
}

function moved(before: SubagentSessionData | undefined, record: SubagentSessionData): Finding {
  const { sessionId, status } = record
  const from = before?.status ?? 'born'
  // The holder of an archived turn has nothing to run.
  const isHolder = before === undefined && record.kind === 'holder'
  if (isHolder ? status !== 'succeeded' : !next[from].includes(status)) {
    const isFinal = next[from].length === 1 ? ', which is final' : ''
    const was = before === undefined ? 'was born' : `was ${from}${isFinal}, and became`
    return `session ${sessionId} ${was} ${status}`
  }
  if (before === undefined) return undefined
  const kept = next[from].length === 1 ? [...fixed, ...final] : fixed
  const changed = kept.find((field) => before[field] !== record[field])
  if (changed === undefined) return undefined
  return `the record of session ${sessionId} (${status}) has changed: ${changed} was ${before[changed]}, and is ${record[changed]}`
}
