import { MadeFrom } from '../../components/sessions/blueprint.ts'
import { isFinal } from '../../src/protocol/session-status.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { knownHost } from '../../src/rules/projection/known-host.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { launchSession } from './launch-session.ts'
import type { Refusal } from './refusal.ts'

/** A session that goes on with another one. */
export interface Resumed {
  readonly session: Entity
  /** It begins where the other one was, not anew. */
  readonly isContinued: boolean
}

/** Launches a session that goes on with one that has failed, timed out or was cancelled. The old record stays as it is. */
export function resumeSession(world: World, old: Entity, correlationId?: string): Resumed | Refusal {
  const {
    category,
    denied,
    loadedBy,
    loadSkills = [],
    parent,
    prompt,
    promptCut,
    promptRecord,
    sessionId,
    startedAtMs,
    status,
    timeoutMs,
  } = world.read(old, SubagentSession)
  if (!isFinal(status) || status === 'succeeded') {
    const advice = 'Only failed, timed_out, or cancelled sessions can be resumed.'
    const message = `Session ${sessionId} is not in a resumable state: ${status}. ${advice}`
    return { code: 'invalid-argument', message }
  }
  if (promptCut !== undefined) {
    const { bytes, maxBytes } = promptCut
    const why = `its prompt has ${bytes} bytes, and a world without a store keeps ${maxBytes} of it (maxRecordBytes)`
    return { code: 'limit-reached', message: `Session ${sessionId} cannot be resumed: ${why}. Launch it anew.` }
  }
  // What was made for one call alone is made from the same again.
  const captured = world.get(old, MadeFrom)?.blueprint
  const launched = launchSession(world, parent, {
    category,
    prompt,
    denied,
    loadedBy,
    loadSkills,
    mode: 'background',
    timeoutMs,
    resumedFrom: sessionId,
    ...(promptRecord !== undefined && { promptRecord }),
    ...(captured !== undefined && { captured: { blueprint: captured, from: old } }),
    ...(correlationId !== undefined && { correlationId }),
  })
  if (typeof launched !== 'number') return launched
  const keeps = knownHost(world)?.keepsSessions === true
  return { session: launched, isContinued: keeps && startedAtMs !== undefined }
}
