import { Ceilings } from '../../../components/money/ceilings.ts'
import { defaultDelegation, type GrantLimits } from '../../protocol/delegation.ts'
import { type DelegatedData, DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import type { SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding, WatchedTick } from '../law.ts'
import {
  add,
  type Amount,
  amountOf,
  askedWith,
  costOf,
  delegatedBy,
  goods,
  limitsOf,
  nothing,
  nothingDelegated,
  ownUse,
  reservedBy,
  spentOf,
  stepsUse,
  usedBySession,
  usedOf,
} from './amounts.ts'
import { Blueprint, type BlueprintData, MadeFrom } from '../../../components/sessions/blueprint.ts'

type Grant = NonNullable<SubagentSessionData['grant']>
type Admitted = readonly [session: Entity, grant: Grant]

/** Every question may cost at least this: one call is always allowed. */
const leastCost = 1

/** Sessions whose record a tick wrote. */
export type Records = readonly (readonly [Entity, SubagentSessionData])[]

interface AccountNews {
  readonly records: Records
  /** At most what questions to ended sessions cost. */
  readonly questions: () => Amount
  readonly hasAsked: boolean
  readonly plans: GrantPlans
}

/** One agent's delegation account, kept from deltas alone. */
export class DelegationAccount {
  readonly #agent: Entity
  readonly #grants = new Map<Entity, Grant>()
  readonly #reserved = nothing()
  #delegated: DelegatedData = nothingDelegated
  /** Its own use at the newest entry, a lower bound: use only grows. */
  #own = nothing()

  constructor(agent: Entity) {
    this.#agent = agent
  }

  open(world: World, records: Records): Finding {
    for (const [session, { grant }] of records) if (grant !== undefined) this.#reserve(session, grant)
    this.#delegated = delegatedBy(world, this.#agent)
    this.#own = stepsUse(world, this.#agent)
    return this.#unlikeReserved(this.#delegated)
  }

  enter(world: World, { hasAsked, plans, records, questions }: AccountNews): Finding {
    const before = this.#delegated
    const now = delegatedBy(world, this.#agent)
    const used = usedOf(before, this.#own)
    const promised = nothing()
    const settled = nothing()
    const admitted: Admitted[] = []
    let launched = 0
    let hasReturned = false
    for (const [session, { grant, kind, sequence, sessionId, usage }] of records) {
      // Holders are not launched.
      if (kind !== 'holder' && sequence > before.launched + (before.holders ?? 0)) launched++
      const known = this.#grants.get(session)
      if (known === undefined && grant !== undefined) {
        add(promised, this.#reserve(session, grant))
        admitted.push([session, grant])
      } else if (known !== undefined && grant === undefined) {
        const given = amountOf(known)
        this.#grants.delete(session)
        hasReturned = true
        const spent = usedBySession(usage)
        add(settled, spent)
        for (const good of goods) {
          this.#reserved[good] -= given[good]
          // What was returned may have been returned before something else was granted.
          used[good] -= Math.max(0, given[good] - spent[good])
        }
      } else if (known !== undefined && grant !== undefined && unlike(amountOf(known), amountOf(grant))) {
        return `the grant of session ${sessionId} has changed`
      }
    }
    this.#delegated = now
    this.#own = stepsUse(world, this.#agent)
    // With several in a tick, it is unknown what was left for each.
    const [alone, ...others] = admitted
    const isAlone = others.length === 0 && !hasAsked && !hasReturned && !unlike(spentOf(before), spentOf(now))
    const delegated = { ...before, launched: now.launched }
    return (
      this.#miscounted(before, now, launched) ??
      this.#unlikeReserved(now) ??
      this.#misspent(before, now, settled, questions) ??
      (alone && isAlone ? this.#misgranted(world, alone, used, delegated, plans) : undefined) ??
      this.#overGranted(world, used, promised, launched)
    )
  }

  /** A session whose grant is spent calls no model. */
  callsModel(world: World): Finding {
    const data = world.get(this.#agent, DelegationLimits)
    if (data?.tokens === undefined && data?.costUsd === undefined) return undefined
    const limits = limitsOf(data)
    const used = usedOf(this.#delegated, stepsUse(world, this.#agent))
    const spent = (['tokens', 'cost'] as const).find((good) => used[good] >= limits[good])
    if (spent === undefined) return undefined
    return `agent ${this.#agent} calls its model, and has no ${spent} left: ${used[spent]} of ${limits[spent]} are used or reserved`
  }

  /** A question's reservation was available before the tick or is available after it. Call before `enter`. */
  asks(world: World, grant: Grant): Finding {
    const limits = limitsOf(world.get(this.#agent, DelegationLimits))
    const before = usedOf(this.#delegated, this.#own)
    const now = usedOf(delegatedBy(world, this.#agent), stepsUse(world, this.#agent))
    const set = amountOf(grant)
    set.cost -= leastCost
    const good = goods.find((each) => Math.min(before[each], now[each]) + set[each] > limits[each] && set[each] > 0)
    if (good === undefined) return undefined
    return `agent ${this.#agent} has set ${set[good]} ${good} aside for a question, and has used ${now[good]} of ${limits[good]}`
  }

  #reserve(session: Entity, grant: Grant): Amount {
    const amount = amountOf(grant)
    this.#grants.set(session, grant)
    add(this.#reserved, amount)
    return amount
  }

  #miscounted(before: DelegatedData, now: DelegatedData, launched: number): Finding {
    if (now.launched === before.launched + launched) return undefined
    return `agent ${this.#agent} has launched ${launched} sessions, and counts ${now.launched - before.launched}`
  }

  #unlikeReserved(now: DelegatedData): Finding {
    const says = reservedBy(now)
    const good = goods.find((each) => says[each] !== this.#reserved[each] || says[each] < 0)
    if (good === undefined) return undefined
    return `agent ${this.#agent} has ${says[good]} ${good} reserved, and its sessions were granted ${this.#reserved[good]}`
  }

  #misspent(before: DelegatedData, now: DelegatedData, settled: Amount, questions: () => Amount): Finding {
    const was = spentOf(before)
    const is = spentOf(now)
    for (const good of goods) {
      const more = is[good] - was[good]
      if (more === settled[good]) continue
      const most = questions()[good]
      if (more > settled[good] && more <= settled[good] + most) continue
      const asked = most > 0 ? `, and questions at most ${most}` : ''
      return `agent ${this.#agent} counts ${more} more ${good} as spent, and sessions that ended have used ${settled[good]}${asked}`
    }
    return undefined
  }

  /** @param least lower bound of what was used before the tick */
  #misgranted(
    world: World,
    [session, grant]: Admitted,
    least: Amount,
    delegated: DelegatedData,
    plans: GrantPlans,
  ): Finding {
    const plan = plans.of(session)
    if (plan === undefined) return undefined
    const data = world.get(this.#agent, DelegationLimits)
    const limits = limitsOf(data)
    const most = minus(limits, least)
    const used = usedOf(delegated, ownUse(world, this.#agent))
    add(used, askedWith(world, this.#agent))
    const depth = data?.depth ?? defaultDelegation.depth
    const isCostKnown = !world.has(this.#agent, Ceilings)
    const problem = unlikePlan(plan, grant, { depth, isCostKnown, left: { least: minus(limits, used), most } })
    return problem && `agent ${this.#agent} has granted session entity ${session} ${problem}`
  }

  /** @param used lower bound: everything returned in this tick counts as returned before the grants */
  #overGranted(world: World, used: Amount, promised: Amount, launched: number): Finding {
    if (launched === 0 && promised.sessions === 0 && promised.tokens === 0 && promised.cost === 0) return undefined
    const data = world.get(this.#agent, DelegationLimits)
    const limits = limitsOf(data)
    if (launched > 0 && (data?.depth ?? defaultDelegation.depth) <= 0) {
      return `agent ${this.#agent} has launched a session, and may have none below it`
    }
    for (const good of goods) {
      const more = promised[good] + (good === 'sessions' ? launched : 0)
      const isSpent = launched > 0 && used[good] >= limits[good]
      if (!isSpent && (more === 0 || used[good] + more <= limits[good])) continue
      return `agent ${this.#agent} has given ${more} ${good} away for sessions, and had ${limits[good] - used[good]} left of ${limits[good]}`
    }
    return undefined
  }
}

function unlike(one: Amount, other: Amount): boolean {
  return goods.some((good) => one[good] !== other[good])
}

function minus(limits: Amount, used: Amount): Amount {
  const { sessions, tokens, cost } = limits
  return { sessions: sessions - used.sessions, tokens: tokens - used.tokens, cost: cost - used.cost }
}

/** What the config of a session says about its grant at launch. */
interface GrantPlan {
  readonly limits: GrantLimits
  readonly hasDelegationTools: boolean
}

/** The grant plans of one world, kept here because a blueprint is removed at admission. */
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

  of(session: Entity): GrantPlan | undefined {
    const blueprint = this.#blueprints.get(session)
    return blueprint === undefined ? undefined : this.#byBlueprint.get(blueprint)
  }

  #learn(blueprint: Entity, { limits = {}, registry, tools }: BlueprintData): void {
    const hasDelegationTools = registry !== undefined || tools.some(({ name }) => name === 'subagent')
    this.#byBlueprint.set(blueprint, { limits, hasDelegationTools })
  }
}

type Bounds = { readonly least: Amount; readonly most: Amount }

/**
 * Where a grant deviates from the plan: what the config names, else a quarter of what is left, rounded down; no
 * sessions if it cannot delegate.
 */
function unlikePlan(
  { limits, hasDelegationTools }: GrantPlan,
  grant: GrantLimits,
  { depth, isCostKnown, left }: { readonly depth: number; readonly isCostKnown: boolean; readonly left: Bounds },
): string | undefined {
  const canDelegate = hasDelegationTools && depth > 1
  const cost = grant.costUsd === undefined ? undefined : costOf(grant.costUsd)
  const wantedCost = limits.costUsd === undefined ? undefined : costOf(limits.costUsd)
  if (!canDelegate && grant.sessions !== 0) return `${grant.sessions} sessions, and cannot delegate`
  return (
    (canDelegate ? unlikeGood('sessions', grant.sessions, limits.sessions, left) : undefined) ??
    unlikeGood('tokens', grant.tokens, limits.tokens, left) ??
    (isCostKnown || wantedCost !== undefined ? unlikeGood('cost', cost, wantedCost, left) : undefined)
  )
}

function unlikeGood(
  good: keyof Amount,
  granted: number | undefined,
  wanted: number | undefined,
  { least, most }: Bounds,
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
