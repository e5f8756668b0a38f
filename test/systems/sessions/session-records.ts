import type { Entity, SessionStatus, World } from 'entia'
import {
  ActiveFor,
  Effect,
  Notified,
  Pending,
  Running,
  SubagentNotification,
  SubagentSession,
  UnreadBy,
} from 'entia/components'

type Fields = Partial<Parameters<typeof SubagentSession>[0]>

/** A session of an agent, with all that goes with its state; the agent is to be told of one that has succeeded or failed. */
export function sessionOf(world: World, parent: Entity, status: SessionStatus, fields: Fields = {}): Entity {
  const sequence = world.referrers(SubagentSession, parent).length + 1
  const isActive = status === 'queued' || status === 'running'
  const sessionId = `session-000000000000000${sequence}`
  const session = world.spawn(
    SubagentSession({
      category: 'researcher',
      correlationId: `delegation-${sequence}`,
      createdAtMs: 0,
      kind: 'named',
      mode: 'background',
      model: 'worker/x',
      parent,
      prompt: `Task ${sequence}`,
      sequence,
      sessionId,
      status,
      updatedAtMs: 0,
      ...(status !== 'queued' && { startedAtMs: 0 }),
      ...(!isActive && { finishedAtMs: 0, finishedSequence: sequence }),
      ...fields,
    }),
  )
  if (isActive) {
    world.set(session, ActiveFor, { agent: parent })
    world.set(session, Effect, { attempt: 1, kind: 'session', restart: 'resumable' })
  }
  if (status === 'queued') world.add(session, Pending)
  else if (status === 'running') world.add(session, Running({ sinceMs: 0 }))
  else if (status !== 'cancelled') {
    world.set(session, SubagentNotification, { id: `${sessionId}:${status}`, state: 'unread' })
    world.set(session, UnreadBy, { agent: parent })
    world.add(parent, Notified)
  }
  return session
}

/** The outcome of a session that has said this. */
export function sessionSaid(text: string) {
  const kept = { artifactId: 'subagent_0', inlineContent: text, recordPath: 'scratchbook/records/subagent/subagent_0' }
  const usage = { calls: 1, input: 100, output: 10, sessions: 0 }
  return {
    ok: true as const,
    value: { ok: true, ...kept, resultBytes: text.length, resultExcerpt: text, text, usage },
  }
}
