import { Approval } from '../../../components/agent/tool-call.ts'
import { Boundary } from '../../../components/context/boundary.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { Outcome, OwnedBy } from '../../../components/effects/effect.ts'
import { ActiveFor, SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { Turn } from '../../../components/agent/turn.ts'
import { textOf } from './text-of.ts'
import { cutText } from '../text/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { oneLine } from '../text/frames.ts'
import { countUpTo } from './places.ts'

/** So many characters of a request are repeated. */
const maxRequestChars = 2_000
const nobody: ReadonlySet<Entity> = new Set()

/**
 * What is still true of what a boundary covers, as it is now, so that no text has to remember it. `undefined` if no boundary
 * is in force, or there is nothing to say.
 *
 * @param listed sessions of which the tail tells elsewhere
 */
export function liveState(world: World, agent: Entity, listed: ReadonlySet<Entity> = nobody): string | undefined {
  const seq = world.get(agent, Boundary)?.at(-1)?.seq
  if (seq === undefined) return undefined
  const rows = [...requestRow(world, agent, seq), ...sessionRows(world, agent, listed), ...approvalRows(world, agent)]
  return rows.length === 0 ? undefined : ['# Live state', '', ...rows.map((row) => `- ${row}`)].join('\n')
}

/** The message that opened the turn, if a boundary up to that `seq` covers it. */
function requestRow(world: World, agent: Entity, seq: number): readonly string[] {
  const fromSeq = world.get(agent, Turn)?.fromSeq
  if (fromSeq === undefined || fromSeq > seq) return []
  const opening = world.get(agent, Conversation)?.[countUpTo(world, agent, fromSeq) - 1]
  const text = oneLine(cutText(textOf(opening), maxRequestChars))
  return text.trim() === '' ? [] : [`request: ${text}`]
}

function sessionRows(world: World, agent: Entity, listed: ReadonlySet<Entity>): readonly string[] {
  const active = world.referrers(ActiveFor, agent).filter((session) => !listed.has(session))
  return active.flatMap((session) => {
    if (world.has(session, Outcome)) return []
    const { category, prompt, sessionId, status } = world.read(session, SubagentSession)
    return [`session ${sessionId} (${oneLine(category)}): ${status}, ${firstLine(prompt)}`]
  })
}

function firstLine(text: string): string {
  return oneLine(text.trim().split(/\r\n|[\n\r]/, 1)[0] ?? '')
}

function approvalRows(world: World, agent: Entity): readonly string[] {
  return world.referrers(OwnedBy, agent).flatMap((owned) => {
    const approval = world.get(owned, Approval)
    if (approval === undefined || world.has(owned, Outcome)) return []
    return [`approval ${approval.id}: ${oneLine(approval.tool)}, waiting for a person`]
  })
}
