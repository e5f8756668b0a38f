import { Ancestry } from '../../../components/ancestry.ts'
import {
  defaultDelegation,
  Delegated,
  type DelegatedData,
  DelegationLimits,
  type DelegationLimitsData,
} from '../../../components/delegation-limits.ts'
import type { SubagentSessionData } from '../../../components/subagent-session.ts'
import { Usage } from '../../../components/usage.ts'
import { toNanoUsd } from '../../context/usd.ts'
import { leastNanoUsd, nothingDelegated, spentBy, tokensOf } from '../../subagents/grants.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { Finding } from '../law.ts'

/** An amount of everything that is granted; money in billionths of a US dollar. */
export interface Amount {
  sessions: number
  tokens: number
  cost: number
}

type Good = keyof Amount
const goods: readonly Good[] = ['sessions', 'tokens', 'cost']

type Grant = NonNullable<SubagentSessionData['grant']>

/** What came of one agent's sessions in a tick. */
export interface AccountNews {
  /** Records of the agent's sessions that were written, with the session. */
  readonly records: readonly (readonly [Entity, SubagentSessionData])[]
  /** What questions to ended sessions may have cost. */
  readonly questions: () => Amount
}

/** The books of one agent's delegation, kept from deltas alone. */
export class DelegationAccount {
  readonly #agent: Entity
  readonly #grants = new Map<Entity, Grant>()
  readonly #reserved: Amount = { sessions: 0, tokens: 0, cost: 0 }
  #delegated: DelegatedData = nothingDelegated
  /** Its own use as of the newest entry: what came since can only have made it more. */
  #own: Amount = { sessions: 0, tokens: 0, cost: 0 }

  constructor(agent: Entity) {
    this.#agent = agent
  }

  /** Takes the books over as they stand. */
  open(world: World, records: AccountNews['records']): Finding {
    for (const [session, { grant }] of records) if (grant !== undefined) this.#reserve(session, grant)
    this.#delegated = world.get(this.#agent, Delegated) ?? nothingDelegated
    this.#own = ownUse(world, this.#agent)
    return this.#unlikeReserved(this.#delegated)
  }

  /** Enters what a tick has done. */
  enter(world: World, { records, questions }: AccountNews): Finding {
    const before = this.#delegated
    const now = world.get(this.#agent, Delegated) ?? nothingDelegated
    const used = usedOf(before, this.#own)
    const promised: Amount = { sessions: 0, tokens: 0, cost: 0 }
    const settled: Amount = { sessions: 0, tokens: 0, cost: 0 }
    let launched = 0
    for (const [session, { grant, kind, sequence, sessionId, usage }] of records) {
      // Nobody has launched a holder.
      if (kind !== 'holder' && sequence > before.launched + (before.holders ?? 0)) launched++
      const known = this.#grants.get(session)
      if (known === undefined && grant !== undefined) add(promised, this.#reserve(session, grant))
      else if (known !== undefined && grant === undefined) {
        const given = this.#release(session, known)
        const { tokens, costNanoUsd: cost, sessions } = spentBy(usage)
        const spent = { sessions, tokens, cost }
        add(settled, spent)
        // Whatever came back may have come back before something else was granted.
        for (const good of goods) used[good] -= Math.max(0, given[good] - spent[good])
      } else if (known !== undefined && grant !== undefined && unlike(amountOf(known), amountOf(grant))) {
        return `the grant of session ${sessionId} has changed`
      }
    }
    this.#delegated = now
    this.#own = ownUse(world, this.#agent)
    return (
      this.#miscounted(before, now, launched) ??
      this.#unlikeReserved(now) ??
      this.#misspent(before, now, settled, questions) ??
      this.#overGranted(world, used, promised, launched)
    )
  }

  /** A session whose grant is spent asks no model any more. */
  callsModel(world: World): Finding {
    const data = world.get(this.#agent, DelegationLimits)
    if (data?.tokens === undefined && data?.costUsd === undefined) return undefined
    const limits = limitsOf(data)
    const used = usedOf(this.#delegated, ownUse(world, this.#agent))
    const spent = (['tokens', 'cost'] as const).find((good) => used[good] >= limits[good])
    if (spent === undefined) return undefined
    return `agent ${this.#agent} calls its model, and has no ${spent} left: ${used[spent]} of ${limits[spent]} are used or reserved`
  }

  /** A question is put: what is set aside for it was there before the tick, or is there after it. To be asked before `enter`. */
  asks(world: World, grant: Grant): Finding {
    const limits = limitsOf(world.get(this.#agent, DelegationLimits))
    const before = usedOf(this.#delegated, this.#own)
    const now = usedOf(world.get(this.#agent, Delegated) ?? nothingDelegated, ownUse(world, this.#agent))
    const set = amountOf(grant)
    // One call may always be made.
    set.cost -= leastNanoUsd
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

  #release(session: Entity, grant: Grant): Amount {
    const amount = amountOf(grant)
    this.#grants.delete(session)
    for (const good of goods) this.#reserved[good] -= amount[good]
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

  /** @param used as it was at most of what has come back in the tick had come back before anything was granted */
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

export function add(to: Amount, more: Amount): void {
  to.sessions += more.sessions
  to.tokens += more.tokens
  to.cost += more.cost
}

function amountOf({ sessions = 0, tokens = 0, costUsd = 0 }: Grant): Amount {
  return { sessions, tokens, cost: toNanoUsd(costUsd) }
}

function limitsOf(limits: DelegationLimitsData | undefined): Amount {
  const { sessions = defaultDelegation.sessions, tokens = Infinity, costUsd = Infinity } = limits ?? {}
  return { sessions, tokens, cost: toNanoUsd(costUsd) }
}

function reservedBy({ reservedSessions, reservedTokens, reservedCostNanoUsd }: DelegatedData): Amount {
  return { sessions: reservedSessions, tokens: reservedTokens, cost: reservedCostNanoUsd }
}

function spentOf({ spentSessions, spentTokens, spentCostNanoUsd }: DelegatedData): Amount {
  return { sessions: spentSessions, tokens: spentTokens, cost: spentCostNanoUsd }
}

/** What is not left any more. */
function usedOf(delegated: DelegatedData, own: Amount): Amount {
  const used = spentOf(delegated)
  add(used, reservedBy(delegated))
  add(used, own)
  used.sessions += delegated.launched - (delegated.launchedBefore ?? 0)
  return used
}

/** In a session its own use counts as well. */
function ownUse(world: World, agent: Entity): Amount {
  const usage = world.has(agent, Ancestry) ? world.get(agent, Usage) : undefined
  if (usage === undefined) return { sessions: 0, tokens: 0, cost: 0 }
  return { sessions: 0, tokens: tokensOf(usage), cost: usage.costNanoUsd ?? 0 }
}

function unlike(one: Amount, other: Amount): boolean {
  return goods.some((good) => one[good] !== other[good])
}
