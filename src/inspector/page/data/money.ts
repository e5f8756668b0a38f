import type { RawWorld } from '../../../world/raw-world.ts'
import { read } from '../../reading/raw-view.ts'
import { type SessionRecord, sessionRecord, type WorldSummary } from '../../reading/summaries.ts'
import { spentOf } from '../../reading/spent.ts'
import type { CallEntry, Problem } from '../../reading/wire.ts'

/** An agent or a session, with what it may spend and has spent, in billionths of a US dollar. */
export interface MoneyNode {
  readonly key: string
  readonly name: string
  readonly detail: string
  readonly state: string
  readonly level: number
  /** Its own world, if it is not the one that is shown. */
  readonly world: string | undefined
  readonly granted: number | undefined
  readonly reserved: number | undefined
  readonly spent: number | undefined
  readonly givenBack: number | undefined
  readonly tokens: number | undefined
  readonly calls: number | undefined
}

type Summaries = ReadonlyMap<string, WorldSummary | { readonly problem: Problem }>

/** Names of worlds deeper than this are not followed: no tree of sessions is as deep. */
const maxLevels = 12
const nanoPerUsd = 1e9

/** An agent, its sessions, and theirs. */
export function moneyTree(world: RawWorld, agent: number, summaries: Summaries): readonly MoneyNode[] {
  const usage = read(world, agent, 'Usage')
  const ledger = read(world, agent, 'Ledger')
  const limits = read(world, agent, 'DelegationLimits')
  const ceilings = read(world, agent, 'Ceilings')
  const delegated = read(world, agent, 'Delegated')
  const top: MoneyNode = {
    key: `agent/${agent}`,
    name: `Agent #${agent}`,
    detail: read(world, agent, 'Llm')?.model ?? '',
    state: world.value(agent, 'Turn') === undefined ? 'idle' : 'running',
    level: 0,
    world: undefined,
    granted: nano(ceilings?.maxSessionCostUsd ?? limits?.costUsd),
    reserved: delegated?.reservedCostNanoUsd,
    spent: spentOf(world, agent).nanoUsd,
    givenBack: undefined,
    tokens: sum([usage?.input, usage?.cacheRead, usage?.cacheWrite, usage?.output]),
    calls: ledger === undefined ? usage?.calls : sum(Object.values(ledger.models).map(({ calls }) => calls)),
  }
  const own = world.entitiesWith('SubagentSession').flatMap((session) => sessionRecord(world, session) ?? [])
  const nodes = [top]
  const add = (record: SessionRecord, level: number): void => {
    nodes.push(nodeOf(record, level, summaries))
    const below = summaries.get(record.sessionId)
    if (below === undefined || 'problem' in below || level >= maxLevels) return
    for (const session of below.sessions) add(session, level + 1)
  }
  for (const record of own) if (record.parent === agent) add(record, 1)
  return nodes
}

function nodeOf(record: SessionRecord, level: number, summaries: Summaries): MoneyNode {
  const { category, grant, prompt, sessionId, status, tokens } = record
  const below = summaries.get(sessionId)
  const agent = below === undefined || 'problem' in below ? undefined : below.agents[0]
  const isActive = status === 'queued' || status === 'running'
  const spent = record.costNanoUsd ?? agent?.costNanoUsd
  // The record of one that has ended has no grant any more; its own world still has it.
  const granted = nano(grant?.costUsd ?? agent?.limitUsd)
  const left = granted === undefined ? undefined : Math.max(0, granted - (spent ?? 0))
  return {
    key: sessionId,
    name: category,
    detail: prompt,
    state: status,
    level,
    world: sessionId,
    granted,
    reserved: isActive ? left : granted === undefined ? undefined : 0,
    spent,
    givenBack: isActive ? undefined : left,
    tokens: sum([tokens.input ?? agent?.tokens.input, tokens.output ?? agent?.tokens.output]),
    calls: record.calls,
  }
}

function nano(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : Math.round(usd * nanoPerUsd)
}

function sum(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined)
  return known.length === 0 ? undefined : known.reduce((all, one) => all + one, 0)
}

/** A limit, and how far it is used. */
export interface CeilingState {
  readonly bound: 'turn' | 'session'
  readonly limit: number
  readonly spent: number
  readonly isReached: boolean
}

export function ceilingsOf(world: RawWorld, agent: number): readonly CeilingState[] {
  const ceilings = read(world, agent, 'Ceilings')
  const ledger = read(world, agent, 'Ledger')
  const reached = read(world, agent, 'CostCeiling')
  const of = (bound: CeilingState['bound'], limitUsd: number | undefined, spent = 0): readonly CeilingState[] =>
    limitUsd === undefined
      ? []
      : [
          {
            bound,
            limit: limitUsd * nanoPerUsd,
            spent,
            isReached: reached?.bound === bound && reached.isReset === undefined,
          },
        ]
  return [
    ...of('turn', ceilings?.maxTurnCostUsd, ledger?.turnNanoUsd),
    ...of('session', ceilings?.maxSessionCostUsd, ledger?.sessionNanoUsd),
  ]
}

/** How fast an agent spends, and when it reaches a limit if it goes on like this. */
export interface Forecast {
  readonly perHour: number
  /** Over how long it was measured. */
  readonly overMs: number
  readonly reaches: readonly { readonly bound: CeilingState['bound']; readonly inMs: number }[]
}

/** Shorter turns say too little. */
const leastMs = 500
const hourMs = 3_600_000

/** The pace is that of the turn under way, with what its sessions spend; between turns nothing is spent. */
export function forecastOf(world: RawWorld, agent: number): Forecast | undefined {
  const turn = read(world, agent, 'Turn')
  const ledger = read(world, agent, 'Ledger')
  if (turn === undefined || ledger === undefined) return undefined
  const overMs = world.nowMs - turn.startedAtMs
  if (overMs < leastMs || ledger.turnNanoUsd === 0) return undefined
  const perMs = ledger.turnNanoUsd / overMs
  const reaches = ceilingsOf(world, agent)
    .filter(({ isReached }) => !isReached)
    .map(({ bound, limit, spent }) => ({ bound, inMs: Math.max(0, limit - spent) / perMs }))
  return { perHour: perMs * hourMs, overMs, reaches }
}

/** What calls have cost together, as steps over world time. */
export function spentOverTime(calls: readonly CallEntry[]): readonly (readonly [atMs: number, nanoUsd: number])[] {
  let all = 0
  return calls
    .filter(({ costNanoUsd, endMs }) => costNanoUsd !== undefined && endMs !== undefined)
    .toSorted((one, other) => (one.endMs ?? 0) - (other.endMs ?? 0))
    .map(({ costNanoUsd = 0, endMs = 0 }) => [endMs, (all += costNanoUsd)] as const)
}
