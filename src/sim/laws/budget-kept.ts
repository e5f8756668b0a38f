import { Ancestry } from '../../../components/ancestry.ts'
import { Delegated, defaultDelegation, DelegationLimits } from '../../../components/delegation-limits.ts'
import type { InputOf } from '../../../components/input.ts'
import { ModelCall } from '../../../components/model-call.ts'
import { OwnedBy } from '../../../components/owned-by.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/subagent-session.ts'
import { spentBy } from '../../subagents/grants.ts'
import { SettlingOutcome } from '../../subagents/holder-outcome.ts'
import { QueryOutcome } from '../../subagents/session-outcome.ts'
import type { Entity } from '../../world/component.ts'
import { type Finding, type Law, setIn, type WatchedTick, type WatchedWorld } from '../law.ts'
import { add, type Amount, DelegationAccount } from './delegation-account.ts'
import { bitsOf, setBits } from './touched.ts'
import { TurnCounts } from './turn-counts.ts'

const delegations = bitsOf(Delegated, SubagentSession)
const modelCalls = bitsOf(ModelCall)
const limits = bitsOf(DelegationLimits)

type Records = readonly (readonly [Entity, SubagentSessionData])[]

/** The books of one world. */
interface Books {
  readonly accounts: Map<Entity, DelegationAccount>
  readonly turns: TurnCounts
}

const none: Records = []

/**
 * Nobody gives away more than there is: an agent launches and grants within its limits, its count of what is reserved and
 * spent is that of its sessions, a session is told what it was granted and asks no model once that is used up, and no turn
 * has more steps and tool calls than it may. What is spent beyond comes from calls that were in flight.
 */
export const budgetKept: Law = {
  name: 'budget-kept',
  meaning:
    'No budget is overspent by more than the calls in flight, and what is reserved is what sessions were granted.',
  watch() {
    const worlds = new Map<string, Books>()
    /** What sessions were granted, by their ids. */
    const granted = new Map<string, { readonly depth: number; readonly grant: SubagentSessionData['grant'] }>()

    const note = ({ world }: WatchedWorld, records: Records): void => {
      for (const [, { grant, parent, sessionId }] of records) {
        if (grant === undefined || granted.has(sessionId)) continue
        const { depth = defaultDelegation.depth } = world.get(parent, DelegationLimits) ?? {}
        granted.set(sessionId, { depth: depth - 1, grant })
      }
    }
    return {
      began(watched) {
        const { label, world } = watched
        const books: Books = { accounts: new Map(), turns: new TurnCounts(world, worlds.get(label)?.turns) }
        worlds.set(label, books)
        const records = world.core.state
          .holders(SubagentSession)
          .map((session) => [session, world.read(session, SubagentSession)] as const)
        note(watched, records)
        const byAgent = Map.groupBy(records, ([, { parent }]) => parent)
        let finding: Finding
        for (const agent of new Set([...world.core.state.holders(Delegated), ...byAgent.keys()])) {
          finding ??= accountOf(books, agent).open(world, byAgent.get(agent) ?? none)
        }
        return finding
      },
      ticked(tick) {
        const books = worlds.get(tick.label)
        if (books === undefined) return undefined
        const set = setBits(tick.step)
        let finding: Finding
        if ((set & delegations) !== 0) {
          const records = setIn(tick, SubagentSession)
          note(tick, records)
          finding = delegating(tick, books, records)
        }
        if ((set & modelCalls) !== 0) finding ??= asking(tick, books)
        if ((set & limits) !== 0) finding ??= told(tick, granted)
        return finding ?? books.turns.enter(tick)
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
  for (const agent of touchedIn(tick, records)) {
    const own = records.filter(([, { parent }]) => parent === agent)
    const finding = accountOf(books, agent).enter(tick.world, { records: own, questions: () => askedIn(tick) })
    if (finding !== undefined) return finding
  }
  return undefined
}

/** Sessions that ask their models have something left. */
function asking(tick: WatchedTick, books: Books): Finding {
  const { world } = tick
  for (const [effect] of setIn(tick, ModelCall)) {
    const agent = world.get(effect, OwnedBy)?.agent
    if (agent === undefined || !world.has(agent, Ancestry)) continue
    const finding = accountOf(books, agent).callsModel(world)
    if (finding !== undefined) return finding
  }
  return undefined
}

/** The agents whose books have changed. */
function touchedIn(tick: WatchedTick, records: Records): Iterable<Entity> {
  const touched = new Set<Entity>()
  for (const [, { parent }] of records) touched.add(parent)
  for (const [agent] of setIn(tick, Delegated)) touched.add(agent)
  return touched
}

/** What questions whose replies came in with this tick have cost, and what was archived of them. One that nobody waits for any more counts for nothing. */
function askedIn({ step: { inputs } }: WatchedTick): Amount {
  const cost: Amount = { sessions: 0, tokens: 0, cost: 0 }
  for (const input of inputs) {
    if (input.kind !== 'outcome') continue
    const { outcome } = input as InputOf<'outcome'>
    const value = outcome.ok ? outcome.value : undefined
    const reply = QueryOutcome().safeParse(value).data ?? SettlingOutcome().safeParse(value).data
    if (reply === undefined) continue
    const { costNanoUsd, sessions, tokens } = spentBy(reply.usage)
    add(cost, { cost: costNanoUsd, sessions, tokens })
  }
  return cost
}

/** A session is told what its parent has set aside for it, and one level less than that has. */
function told(
  tick: WatchedTick,
  granted: ReadonlyMap<string, { depth: number; grant: SubagentSessionData['grant'] }>,
): Finding {
  const [row] = setIn(tick, DelegationLimits)
  const sessionId = tick.path.at(-1)
  if (row === undefined || sessionId === undefined || !tick.step.inputs.some(({ kind }) => kind === 'granted'))
    return undefined
  const expected = granted.get(sessionId)
  const [agent, { costUsd, depth, sessions, tokens }] = row
  const { grant = {} } = expected ?? {}
  if (expected === undefined) return `agent ${agent} is told of a grant, and its session was granted nothing`
  if (depth === expected.depth && sessions === grant.sessions && tokens === grant.tokens && costUsd === grant.costUsd)
    return undefined
  const is = JSON.stringify({ costUsd, depth, sessions, tokens })
  return `agent ${agent} may spend ${is}, and its session was granted ${JSON.stringify({ ...grant, depth: expected.depth })}`
}
