import { Settling, Unsettled } from '../../components/context/holder.ts'
import { Outcome } from '../../components/effects/outcome.ts'
import { SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SettlingOutcome } from '../../src/rules/delegation/session-outcome.ts'
import type { Entity } from '../../src/world/component.ts'
import { parsedAs } from '../../src/world/parsed-as.ts'
import type { World } from '../../src/world/world.ts'
import { beginEffect, tryWriteAgain } from '../kit/begin-effect.ts'
import { emit } from '../kit/emit.ts'

/**
 * Has the World of a session driven on that has ended, if turns of it may still be on their way to holders.
 *
 * @param isKnown they are
 */
export function settleSession(world: World, session: Entity, isKnown = world.has(session, Unsettled)): void {
  if (!isKnown || world.isReferred(Settling, session)) return
  world.add(session, Unsettled)
  const effect = world.spawn(Settling({ session, tries: 1 }))
  beginEffect(world, effect, { kind: 'settling', restart: 'pure' })
}

/** Lets a session's World be asked: it goes on archiving meanwhile, and may have more to archive then. */
export function interruptSettling(world: World, session: Entity): void {
  for (const effect of world.referrers(Settling, session)) world.despawn(effect)
  world.add(session, Unsettled)
}

/** Takes how the driving on of a World has ended. */
export function takeSettling(world: World, effect: Entity): void {
  const outcome = world.read(effect, Outcome)
  const { session, tries } = world.read(effect, Settling)
  const end = outcome.ok ? parsedAs(SettlingOutcome(), outcome.value) : undefined
  const { parent: agent, sessionId } = world.read(session, SubagentSession)
  const isDone = end !== undefined && end.isArchiving !== true
  if (!isDone && tryWriteAgain(world, effect, tries)) return world.patch(effect, Settling, { tries: tries + 1 })
  // The next question takes it up again.
  if (isDone) world.remove(session, Unsettled)
  else emit(world, 'warning', { agent, message: `Turns of session ${sessionId} could not be archived yet.` })
  world.despawn(effect)
}
