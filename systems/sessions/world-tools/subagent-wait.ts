import { z } from 'zod'
import { Effect, OwnedBy, Pending } from '../../../components/effects/effect.ts'
import { isFinal } from '../../../src/protocol/delegation.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { SubagentWait, WaitDeadline } from '../../../components/sessions/subagent-wait.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { findSession } from '../../../src/rules/delegation/find-session.ts'
import { activeInBackground, isOver, unreadSessions, type WaitData } from '../wait.ts'
import { sessionName, someSeconds, worldTool } from './world-tool.ts'

const input = () =>
  z.object({
    mode: z.enum(['any', 'all']).default('any'),
    session_ids: z.array(sessionName()).default([]),
    timeout: someSeconds().optional(),
  })

/** `subagent_wait`: puts the agent to sleep until sessions have ended. */
export const subagentWait = worldTool('subagent_wait', input, (world, asked, { agent }) => {
  const { mode, session_ids: names, timeout: timeoutMs = null } = asked
  const sessions = named(world, agent, names)
  if (typeof sessions === 'string') return { problem: sessions }
  if (world.has(agent, SubagentWait)) return { problem: 'Already waiting for background subagents' }
  const active = activeInBackground(world, agent)
  if (sessions === null && active.length === 0 && unreadSessions(world, agent).length === 0) {
    return 'No background subagent sessions to wait for.'
  }
  const deadlineMs = timeoutMs === null ? null : world.nowMs + timeoutMs
  const watched = mode === 'all' && sessions === null ? { watched: [...active] } : {}
  const wait = { deadlineMs, mode, sessions, startedAtMs: world.nowMs, timeoutMs, ...watched }
  if (isOver(world, agent, wait)) return `Already finished: ${finished(world, agent, wait)}`
  begin(world, agent, wait)
  return 'Waiting for background subagents. Will be notified when they complete.'
})

/** The named sessions, each once; `null` for no names; a text says what is wrong. */
function named(world: World, agent: Entity, names: readonly string[]): Entity[] | null | string {
  if (names.length === 0) return null
  const sessions = new Set<Entity>()
  for (const name of names) {
    const found = findSession(world, agent, name)
    if (found.problem !== undefined) return found.problem
    sessions.add(found.session)
  }
  return [...sessions]
}

function finished(world: World, agent: Entity, { sessions }: WaitData): string {
  const records = (sessions ?? unreadSessions(world, agent)).map((session) => world.read(session, SubagentSession))
  const ended = records.filter(({ status }) => isFinal(status))
  return ended.map(({ sessionId, status }) => `${sessionId} (${status})`).join(', ')
}

function begin(world: World, agent: Entity, wait: WaitData): void {
  world.set(agent, SubagentWait, wait)
  if (wait.deadlineMs === null) return
  const deadline = world.spawn(OwnedBy({ agent }), WaitDeadline, Pending)
  world.set(deadline, Effect, { attempt: 1, deadlineMs: wait.deadlineMs, kind: 'timer', restart: 'pure' })
}
