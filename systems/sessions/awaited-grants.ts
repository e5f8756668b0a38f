import { Blueprint, MadeFrom } from '../../components/sessions/blueprint.ts'
import { GrantAwaited } from '../../components/sessions/subagent-session.ts'
import { Pending, Running } from '../../components/effects/effect.ts'
import { type Allowance, emptyShare, grantOf, withoutGrant } from '../../src/rules/delegation/grants.ts'
import { subagentToolNames } from '../../src/rules/delegation/declarations.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { depthLeft, leftToDelegate } from './delegation.ts'

/**
 * Lets sessions ask to be admitted again, in order, that wait for budget which others had reserved. One that cannot get enough any
 * more asks as well, and fails at its admission.
 * Query: GrantAwaited. Writes: GrantAwaited.
 */
export const awaitedGrants = {
  name: 'awaited-grants',
  priority: 12.2,
  wakes: [GrantAwaited],
  run(world: World): void {
    const agents = new Set(world.entitiesWith(GrantAwaited).map((session) => world.read(session, GrantAwaited).agent))
    for (const agent of agents) release(world, agent)
  },
}

function release(world: World, agent: Entity): void {
  let left = leftToDelegate(world, agent)
  for (const session of world.referrers(GrantAwaited, agent)) {
    const grant = grantFor(world, session, agent, left)
    // Those behind it wait too, or many small ones would keep a large one waiting.
    if (typeof grant === 'string' && isReserved(world, session, agent)) return
    // The Runner sees that an admission was refused by what is committed: one that was never seen would wait for ever.
    if (world.read(session, GrantAwaited).sinceTick === world.tick) return world.requestTick()
    world.remove(session, GrantAwaited)
    if (typeof grant !== 'string') left = withoutGrant(left, grant)
  }
}

/** What a session gets of what its parent may still delegate, or the name of what there is too little of. */
export function grantFor(world: World, session: Entity, parent: Entity, left: Allowance): Allowance | string {
  const blueprint = world.get(session, MadeFrom)?.blueprint
  const made = blueprint === undefined ? undefined : world.get(blueprint, Blueprint)
  const hasTools =
    made?.registry !== undefined || made?.tools.some(({ name }) => name === subagentToolNames[0]) === true
  return emptyShare(left, made?.limits) ?? grantOf(left, made?.limits, hasTools && depthLeft(world, parent) > 1)
}

/** Would there be enough for a session if all that others have reserved came back? */
export function isReserved(world: World, session: Entity, parent: Entity): boolean {
  return typeof grantFor(world, session, parent, leftToDelegate(world, parent, 'if-returned')) !== 'string'
}

/** Does a session that was launched before it wait for budget of the same agent? It would wait on if later ones took what comes back. */
export function isBehindAwaited(world: World, session: Entity, parent: Entity): boolean {
  return world.referrers(GrantAwaited, parent).some((other) => other < session)
}

/** Takes an admission back: the session is in line again, and waits. */
export function awaitGrant(world: World, session: Entity, parent: Entity): void {
  world.remove(session, Running)
  world.add(session, Pending)
  world.set(session, GrantAwaited, { agent: parent, sinceTick: world.tick })
}
