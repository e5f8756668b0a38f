import { Blueprint, type BlueprintData, MadeFrom } from '../../../components/sessions/blueprint.ts'
import type { GrantLimits } from '../../protocol/delegation.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { WatchedTick } from '../law.ts'
import { type Amount, costOf } from './amounts.ts'

/** What the config of a session says about its grant, as of the launch. */
export interface GrantPlan {
  readonly limits: GrantLimits
  /** Are there tools by which it could delegate? */
  readonly hasDelegationTools: boolean
}

/** What sessions of one world are to be granted. A blueprint goes at the admission; what it said is remembered here. */
export class GrantPlans {
  readonly #byBlueprint = new Map<Entity, GrantPlan>()
  readonly #blueprints = new Map<Entity, Entity>()

  constructor(world: World) {
    for (const blueprint of world.entitiesWith(Blueprint)) this.#learn(blueprint, world.read(blueprint, Blueprint))
    for (const session of world.entitiesWith(MadeFrom)) {
      this.#blueprints.set(session, world.read(session, MadeFrom).blueprint)
    }
  }

  enter({ changes }: WatchedTick): void {
    for (const [blueprint, data] of changes.of(Blueprint).set) this.#learn(blueprint, data)
    for (const [session, { blueprint }] of changes.of(MadeFrom).set) this.#blueprints.set(session, blueprint)
  }

  /** `undefined`: nothing is known of it any more. */
  of(session: Entity): GrantPlan | undefined {
    const blueprint = this.#blueprints.get(session)
    return blueprint === undefined ? undefined : this.#byBlueprint.get(blueprint)
  }

  #learn(blueprint: Entity, { limits = {}, registry, tools }: BlueprintData): void {
    const hasDelegationTools = registry !== undefined || tools.some(({ name }) => name === 'subagent')
    this.#byBlueprint.set(blueprint, { limits, hasDelegationTools })
  }
}

/** What was left when something was granted: at least, and at most. */
export interface Left {
  readonly least: Amount
  readonly most: Amount
}

/**
 * Where a grant is not what a session is to be granted: what its config names, else a quarter of what is left, rounded down;
 * of sessions none, if it cannot delegate.
 *
 * @param isCostKnown the money that is left is that of the limits alone
 */
export function unlikePlan(
  { limits, hasDelegationTools }: GrantPlan,
  grant: GrantLimits,
  { depth, isCostKnown, left }: { readonly depth: number; readonly isCostKnown: boolean; readonly left: Left },
): string | undefined {
  const canDelegate = hasDelegationTools && depth > 1
  const cost = grant.costUsd === undefined ? undefined : costOf(grant.costUsd)
  const wantedCost = limits.costUsd === undefined ? undefined : costOf(limits.costUsd)
  if (!canDelegate && grant.sessions !== 0) return `${grant.sessions} sessions, and cannot delegate`
  return (
    (canDelegate ? unlike('sessions', grant.sessions, limits.sessions, left) : undefined) ??
    unlike('tokens', grant.tokens, limits.tokens, left) ??
    (isCostKnown || wantedCost !== undefined ? unlike('cost', cost, wantedCost, left) : undefined)
  )
}

function unlike(
  good: keyof Amount,
  granted: number | undefined,
  wanted: number | undefined,
  { least, most }: Left,
): string | undefined {
  if (wanted !== undefined) return granted === wanted ? undefined : `${granted} ${good}, and its config names ${wanted}`
  if (most[good] === Infinity) return granted === undefined ? undefined : `${granted} ${good}, which have no limit`
  const [from, to] = [quarter(least[good]), quarter(most[good])]
  if (granted !== undefined && granted >= from && granted <= to) return undefined
  return `${granted} ${good}, and a quarter of what was left is ${from === to ? to : `${from} to ${to}`}`
}

function quarter(amount: number): number {
  return Math.floor(Math.max(0, amount) / 4)
}
