import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { Blueprint, MadeFrom } from '../../../components/sessions/blueprint.ts'
import { Delegated, DelegationLimits } from '../../../components/sessions/delegation-limits.ts'
import { defaultDelegation, type DelegationLimitsData, type GrantLimits } from '../../protocol/delegation.ts'
import type { InputOf } from '../../protocol/input.ts'
import { ModelCall } from '../../../components/effects/model-call.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import { SessionQuery, type SessionQueryData } from '../../../components/sessions/session-call.ts'
import { SessionUsage } from '../../protocol/usage.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import type { Entity } from '../../world/component.ts'
import type { Input } from '../../world/input.ts'
import type { World } from '../../world/world.ts'
import type { Finding, Law, WatchedTick } from '../law.ts'
import { firstFinding } from './first-finding.ts'
import { add, type Amount, costOf, delegatedBy, nothing, ownUse, usedBySession, usedOf } from './amounts.ts'
import { DelegationAccount, GrantPlans, type Records } from './delegation-account.ts'
import { TurnCounts, turnCountsConcern } from './turn-counts.ts'

interface Books {
  readonly accounts: Map<Entity, DelegationAccount>
  readonly plans: GrantPlans
  readonly turns: TurnCounts
}

interface Granted {
  readonly depth: number
  readonly grant: SubagentSessionData['grant']
}

const delegation = [Blueprint, Delegated, DelegationLimits, MadeFrom, ModelCall, SessionQuery, SubagentSession]

export const budgetKept: Law = {
  concern: { ...turnCountsConcern, set: [...turnCountsConcern.set, ...delegation] },
  name: 'budget-kept',
  meaning:
    'No budget is overspent by more than the calls in flight, and what is reserved is what sessions were granted.',
  watch() {
    const worlds = new Map<string, Books>()
    /** Grants by session id. */
    const granted = new Map<string, Granted>()
    /** Reservations by question id. */
    const asked = new Map<string, GrantLimits>()

    const note = (world: World, records: Records): void => {
      for (const [, { grant, parent, sessionId }] of records) {
        if (grant === undefined || granted.has(sessionId)) continue
        const { depth = defaultDelegation.depth } = world.get(parent, DelegationLimits) ?? {}
        granted.set(sessionId, { depth: depth - 1, grant })
      }
    }
    return {
      began({ label, world }) {
        const turns = new TurnCounts(world, worlds.get(label)?.turns)
        const books: Books = { accounts: new Map(), plans: new GrantPlans(world), turns }
        worlds.set(label, books)
        for (const query of world.entitiesWith(SessionQuery)) noteQuestion(asked, world.read(query, SessionQuery))
        const sessions = world.entitiesWith(SubagentSession)
        const records = sessions.map((session) => [session, world.read(session, SubagentSession)] as const)
        note(world, records)
        const byAgent = Map.groupBy(records, ([, { parent }]) => parent)
        return firstFinding(new Set([...world.entitiesWith(Delegated), ...byAgent.keys()]), (agent) =>
          accountOf(books, agent).open(world, byAgent.get(agent) ?? []),
        )
      },
      ticked(tick) {
        const books = worlds.get(tick.label)
        if (books === undefined) return undefined
        books.plans.enter(tick)
        const { changes } = tick
        const launched = changes.of(SubagentSession).set
        let finding: Finding
        for (const [, question] of changes.of(SessionQuery).set) {
          if (noteQuestion(asked, question))
            finding ??= accountOf(books, question.agent).asks(tick.world, question.grant ?? {})
        }
        if (launched.length > 0 || changes.of(Delegated).set.length > 0) {
          note(tick.world, launched)
          finding ??= delegating(tick, books, launched)
        }
        if (changes.of(ModelCall).set.length > 0) finding ??= asking(tick, books, granted)
        return finding ?? wrongLimits(tick, granted, asked) ?? books.turns.enter(tick)
      },
    }
  },
}

function accountOf({ accounts }: Books, agent: Entity): DelegationAccount {
  let account = accounts.get(agent)
  if (account === undefined) accounts.set(agent, (account = new DelegationAccount(agent)))
  return account
}

function delegating(tick: WatchedTick, books: Books, records: Records): Finding {
  const { changes, world } = tick
  const touched = [...records.map(([, { parent }]) => parent), ...changes.of(Delegated).set.map(([agent]) => agent)]
  return firstFinding(new Set(touched), (agent) =>
    accountOf(books, agent).enter(world, {
      records: records.filter(([, { parent }]) => parent === agent),
      questions: () => askedIn(tick),
      hasAsked: changes.of(SessionQuery).set.length > 0,
      plans: books.plans,
    }),
  )
}

/** A session that calls its model has limits, and something left of them. */
function asking(tick: WatchedTick, books: Books, granted: ReadonlyMap<string, Granted>): Finding {
  const { path, world } = tick
  return firstFinding(tick.changes.of(ModelCall).set, ([effect]) => {
    const agent = world.get(effect, OwnedBy)?.agent
    if (agent === undefined || !world.has(agent, Ancestry)) return undefined
    if (granted.has(path.at(-1) ?? '') && !world.has(agent, DelegationLimits))
      return `agent ${agent} calls its model, and was not given its limits`
    return accountOf(books, agent).callsModel(world)
  })
}

/** At most what the questions settled in this tick cost, archiving included. */
function askedIn({ step: { inputs } }: WatchedTick): Amount {
  const cost = nothing()
  for (const input of inputs) add(cost, usedBySession(questionUsage(input)))
  return cost
}

function questionUsage(input: Input): SessionUsage | undefined {
  if (input.kind === 'session-spent') {
    const { asker, usage } = input as InputOf<'session-spent'>
    return asker === undefined ? undefined : usage
  }
  if (input.kind !== 'outcome') return undefined
  const { outcome } = input as InputOf<'outcome'>
  if (!outcome.ok || typeof outcome.value !== 'object' || outcome.value === null) return undefined
  return SessionUsage().safeParse(Reflect.get(outcome.value, 'usage')).data
}

function noteQuestion(asked: Map<string, GrantLimits>, { grant, id }: SessionQueryData): boolean {
  if (grant === undefined || asked.has(id)) return false
  asked.set(id, grant)
  return true
}

function wrongLimits(
  { changes, path, step, world }: WatchedTick,
  granted: ReadonlyMap<string, Granted>,
  asked: ReadonlyMap<string, GrantLimits>,
): Finding {
  const [row] = changes.of(DelegationLimits).set
  if (row === undefined) return undefined
  const input = step.inputs.find(({ kind }) => kind === 'granted') as InputOf<'granted'> | undefined
  const [session] = path.slice(-1)
  if (input?.question !== undefined) return wrongForQuestion(world, row, asked.get(input.question))
  return input && session !== undefined ? wrongForSession(row, granted.get(session)) : undefined
}

type LimitsRow = readonly [agent: Entity, limits: DelegationLimitsData]

/** For a question, a session may spend its reservation beyond what it has used. */
function wrongForQuestion(world: World, [agent, limitsNow]: LimitsRow, grant: GrantLimits | undefined): Finding {
  if (grant === undefined) return `agent ${agent} gets a grant for a question, and nothing was reserved for it`
  // Questions reserve no tokens: rereading is charged to the session.
  const used = usedOf(delegatedBy(world, agent), { ...ownUse(world, agent), tokens: 0 })
  const { costUsd, sessions = defaultDelegation.sessions, tokens } = limitsNow
  const may = JSON.stringify({
    costUsd: costUsd && Math.max(0, costOf(costUsd) - used.cost) / costOf(1),
    sessions: Math.max(0, sessions - used.sessions),
    tokens: tokens && Math.max(0, tokens - used.tokens),
  })
  const set = JSON.stringify({ costUsd: grant.costUsd, sessions: grant.sessions ?? 0, tokens: grant.tokens })
  return may === set ? undefined : `agent ${agent} may spend ${may} on a question, and ${set} was set aside for it`
}

/** A session gets what its parent reserved for it, and one level of depth less than its parent has. */
function wrongForSession([agent, limits]: LimitsRow, expected: Granted | undefined): Finding {
  const { costUsd, depth, sessions, tokens } = limits
  const { grant = {} } = expected ?? {}
  if (expected === undefined) return `agent ${agent} gets a grant, and its session was granted nothing`
  if (depth === expected.depth && sessions === grant.sessions && tokens === grant.tokens && costUsd === grant.costUsd)
    return undefined
  const is = JSON.stringify({ costUsd, depth, sessions, tokens })
  return `agent ${agent} may spend ${is}, and its session was granted ${JSON.stringify({ ...grant, depth: expected.depth })}`
}
