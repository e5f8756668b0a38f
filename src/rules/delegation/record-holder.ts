import { Delegated } from '../../../components/sessions/delegation-limits.ts'
import { HolderOf, type KnownHolder } from '../../../components/context/holder.ts'
import { Collected } from '../../../components/sessions/session-call.ts'
import { SubagentSession } from '../../../components/sessions/subagent-session.ts'
import { cutText } from '../../base/cut-text.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { indexSession } from './find-session.ts'
import { nothingDelegated } from './grants.ts'

const maxInlineChars = 600
const excerptChars = 200

/** The holders that an agent can name, oldest first. */
export function knownHolders(world: World, agent: Entity): readonly KnownHolder[] {
  if (world.get(agent, Delegated)?.holders === undefined) return []
  return world.referrers(SubagentSession, agent).flatMap((session) => {
    const { kind, model, prompt: task, sessionId } = world.read(session, SubagentSession)
    if (kind !== 'holder') return []
    return [{ ...(!world.has(session, HolderOf) && { isTold: true as const }), model, sessionId, task }]
  })
}

/** Records a holder as a succeeded session of an agent, without an event. */
export function recordHolder(world: World, agent: Entity, holder: KnownHolder, summary = ''): void {
  const { isTold, model, sessionId, task } = holder
  const delegated = world.get(agent, Delegated) ?? nothingDelegated
  const holders = (delegated.holders ?? 0) + 1
  const session = world.spawn()
  world.set(session, SubagentSession, {
    category: 'holder',
    correlationId: sessionId,
    createdAtMs: world.nowMs,
    finishedAtMs: world.nowMs,
    inlineContent: cutText(summary, maxInlineChars),
    kind: 'holder',
    mode: 'background',
    model,
    notify: false,
    parent: agent,
    prompt: task,
    resultExcerpt: cutText(summary, excerptChars),
    sequence: delegated.launched + holders,
    sessionId,
    status: 'succeeded',
    updatedAtMs: world.nowMs,
  })
  world.set(session, Collected, { atMs: world.nowMs })
  if (isTold !== true) world.set(session, HolderOf, { agent })
  world.set(agent, Delegated, { ...delegated, holders })
  indexSession(world, session, sessionId)
}
