import { Delegated } from '../../components/sessions/delegation-limits.ts'
import { Blueprint, MadeFrom } from '../../components/sessions/blueprint.ts'
import { Effect } from '../../components/effects/effect.ts'
import { Running } from '../../components/effects/running.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { type Allowance, emptyShare, grantData, grantOf } from '../../src/rules/delegation/grants.ts'
import { subagentToolNames } from '../../src/rules/delegation/declarations.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit/emit.ts'
import { isCaptured, releaseBlueprint } from './blueprints.ts'
import { delegatedBy, depthLeft, leftToDelegate, tellIfNeared } from './delegation.ts'
import { delegationFacts } from './delegation-facts.ts'
import { endSession } from './end-session.ts'
import { moveSession } from './move-session.ts'

/** Lets a session begin that the pool has a slot for: its clock starts, and its grant is set aside. */
export function admitSession(world: World, session: Entity): void {
  // What was cancelled in this tick has not begun, and does not begin.
  if (!world.has(session, Running) || world.read(session, SubagentSession).status !== 'queued') return
  const { parent, timeoutMs } = world.read(session, SubagentSession)
  const grant = grantFor(world, session, parent)
  if (typeof grant === 'string') {
    return endSession(world, session, { status: 'failed', fields: { error: `Delegation limit reached: ${grant}` } })
  }
  const deadlineMs = timeoutMs === undefined ? undefined : world.nowMs + timeoutMs
  moveSession(world, session, 'running', {
    deadlineMs,
    grant: grantData(grant),
    startedAtMs: world.nowMs,
  })
  if (deadlineMs !== undefined) world.patch(session, Effect, { deadlineMs })
  reserve(world, parent, grant)
  if (!isCaptured(world, session)) releaseBlueprint(world, session)
  emit(world, 'delegation-started', delegationFacts(world, session))
  tellIfNeared(world, parent)
}

function grantFor(world: World, session: Entity, parent: Entity): Allowance | string {
  const blueprint = world.get(session, MadeFrom)?.blueprint
  const made = blueprint === undefined ? undefined : world.get(blueprint, Blueprint)
  const hasTools =
    made?.registry !== undefined || made?.tools.some(({ name }) => name === subagentToolNames[0]) === true
  const left = leftToDelegate(world, parent)
  return emptyShare(left, made?.limits) ?? grantOf(left, made?.limits, hasTools && depthLeft(world, parent) > 1)
}

function reserve(world: World, parent: Entity, { sessions, tokens = 0, costNanoUsd = 0 }: Allowance): void {
  const delegated = delegatedBy(world, parent)
  world.set(parent, Delegated, {
    ...delegated,
    reservedCostNanoUsd: delegated.reservedCostNanoUsd + costNanoUsd,
    reservedSessions: delegated.reservedSessions + sessions,
    reservedTokens: delegated.reservedTokens + tokens,
  })
}
