import { Ancestry, SessionEnd } from '../../components/sessions/ancestry.ts'
import { Busy, Terminal } from '../../components/agent/agent-tags.ts'
import { Conversation, Unread } from '../../components/agent/conversation.ts'
import { LastTurn, Turn } from '../../components/agent/turn.ts'
import { wordsAt } from '../../src/rules/projection/text-of.ts'
import type { Entity } from '../../src/world/component.ts'
import { not } from '../../src/world/entities.ts'
import type { World } from '../../src/world/world.ts'
import { activeSessions, cancelSessionsOf } from './end-session.ts'
import { emit } from '../kit.ts'

const noText = 'No assistant message found in subagent conversation'

/**
 * In a session's world: records how the session ended, once its agent has failed, or its turn is over and no session
 * below is active or about to wake it. Sessions that are still active end with it.
 * Writes: SessionEnd, and what ending sessions writes.
 */
export const sessionEnd = {
  name: 'session-end',
  priority: 10,
  wakes: [Ancestry],
  run(world: World): void {
    for (const agent of world.query(Ancestry, not(SessionEnd), not(Busy))) {
      const end = endOf(world, agent)
      if (end === undefined) continue
      // No one would drive them any more.
      cancelSessionsOf(world, agent)
      world.add(agent, end)
      emit(world, 'session-settled', { agent, success: world.read(agent, SessionEnd).ok })
    }
  },
}

function endOf(world: World, agent: Entity) {
  if (world.has(agent, Terminal)) return lastWord(world, agent)
  const last = world.get(agent, LastTurn)
  if (last === undefined || world.has(agent, Turn) || world.has(agent, Unread)) return undefined
  if (last.stop === 'done') return activeSessions(world, agent).length > 0 ? undefined : lastWord(world, agent)
  if (last.stop === 'empty-reply') return SessionEnd({ ok: false, error: noText, kind: 'invalid-output' })
  const { kind, message } = last.failure ?? { kind: 'internal' as const, message: `The turn ended: ${last.stop}` }
  return SessionEnd({ ok: false, error: message, kind })
}

function lastWord(world: World, agent: Entity) {
  const messages = world.get(agent, Conversation) ?? []
  const text = messages.at(-1)?.role === 'assistant' ? wordsAt(world, agent, messages.length - 1) : ''
  return text.trim() === ''
    ? SessionEnd({ ok: false, error: noText, kind: 'invalid-output' })
    : SessionEnd({ ok: true, text })
}
