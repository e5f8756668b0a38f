import { ReportedUsage } from '../../components/reported-usage.ts'
import { type SessionUsage, SubagentSession } from '../../components/subagent-session.ts'
import { newlySpent, toldSoFar } from '../../src/context/ledger-entry.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { charge, keepsLedger } from './charge.ts'

/**
 * Enters what a session, and those below it, have spent so far in the ledger of its parent: under the session's model, and
 * only what is new.
 *
 * @param isFinal it is known for good, and stands in the session's record from now on
 */
export function chargeSession(world: World, session: Entity, usage: SessionUsage, isFinal: boolean): void {
  const { model, parent, usage: settled } = world.read(session, SubagentSession)
  if (!keepsLedger(world, parent)) return
  const before = world.get(session, ReportedUsage)?.usage ?? settled
  const spent = newlySpent(before, usage)
  if (isFinal) world.remove(session, ReportedUsage)
  else world.set(session, ReportedUsage, { agent: parent, usage: toldSoFar(before, usage) })
  if (spent !== undefined) charge(world, parent, { ...spent, call: session, model })
}

/** What a session has told of its spending so far, if it has told anything. */
export function reportedBy(world: World, session: Entity): SessionUsage | undefined {
  return world.get(session, ReportedUsage)?.usage
}
