import { Settling } from '../../components/context/holder.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { ModelCall, SideCall } from '../../components/effects/model-call.ts'
import { Outcome } from '../../components/effects/effect.ts'
import type { OutcomeData } from '../../src/protocol/failure.ts'
import { SessionQuery } from '../../components/sessions/session-call.ts'
import { isFinal } from '../../src/protocol/delegation.ts'
import { SessionUsage, type SubtaskSpending } from '../../src/protocol/usage.ts'
import { ReportedUsage, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubtaskAccount } from '../../components/sessions/subtask.ts'
import { subtaskOutcome } from '../../src/rules/delegation/subtask-result.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { Input } from '../../src/world/input.ts'
import type { Json } from '../../src/base/json.ts'
import type { World } from '../../src/world/world.ts'
import { settled } from '../kit.ts'
import { chargeSettled } from './charge-call.ts'
import { Delegated } from '../../components/sessions/delegation-limits.ts'
import { newlySpent } from '../../src/rules/money/ledger-entry.ts'
import { highestOf, sumOf } from '../../src/rules/tokens/token-counts.ts'
import { withSpent } from '../../src/rules/delegation/grants.ts'
import { delegatedBy } from '../sessions/delegation.ts'
import { charge, noteKnown } from './charge.ts'

/**
 * Charges settled model calls, sessions, queries and subtasks to the ledgers, each once and before another system takes
 * the outcome. A call that a later system of the tick cuts is charged there, by `endCall`.
 * Writes: Ledger, Usage, UsageBeside, Delegated, ReportedUsage, SubagentSession, SubtaskAccount, CostCeiling, CeilingNotes, TokenFactors.
 */
export const charging = {
  name: 'charging',
  priority: -98,
  wakes: [
    'session-spent',
    'subtask-spent',
    SubagentSession,
    SubtaskAccount,
    [ModelCall, Outcome],
    [SideCall, Outcome],
    [SessionQuery, Outcome],
    [Settling, Outcome],
  ],
  run(world: World): void {
    for (const input of world.inputs) chargeInput(world, input)
    for (const query of settled(world, SessionQuery)) {
      const { agent, session } = world.read(query, SessionQuery)
      chargeAfterEnd(world, session, agent, query)
    }
    for (const effect of settled(world, Settling)) {
      const { session } = world.read(effect, Settling)
      chargeAfterEnd(world, session, world.read(session, SubagentSession).parent, effect)
    }
    for (const call of settled(world, ModelCall, SideCall)) chargeSettled(world, call)
  },
}

/** Totals of sessions and subtasks, reported while they run, with their outcomes, or after they were stopped. */
function chargeInput(world: World, input: Input): void {
  switch (input.kind) {
    case 'session-spent':
      return chargeReport(world, input as InputOf<'session-spent'>)
    case 'subtask-spent': {
      const { spent, subtaskId } = input as InputOf<'subtask-spent'>
      return chargeSubtask(world, subtaskId, spent)
    }
    case 'outcome':
      return chargeOutcome(world, input as InputOf<'outcome'>)
  }
}

function chargeReport(world: World, { asker, isUnderWay, session, usage }: InputOf<'session-spent'>): void {
  if (!world.has(session, SubagentSession)) return
  if (asker === undefined) chargeSession(world, session, usage, isUnderWay)
  else if (world.exists(asker)) chargeAsker(world, session, { agent: asker }, usage)
}

function chargeOutcome(world: World, { effect, outcome }: Partial<InputOf<'outcome'>>): void {
  // The outcome of a custom effect kind may be anything.
  if (effect === undefined || outcome?.ok !== true) return
  const session = world.get(effect, SubagentSession)
  if (session !== undefined) {
    // For a session that was stopped in an earlier tick, it is the first that is known of its spending.
    const usage = world.has(effect, Outcome) || session.usage === undefined ? usageIn(outcome) : undefined
    if (usage !== undefined) chargeSession(world, effect, usage)
  } else if (isSubtaskOutcome(outcome.value)) {
    const { spent, subtaskId } = subtaskOutcome('', outcome)
    chargeSubtask(world, subtaskId, spent)
  }
}

/** An outcome names its subtask, and is charged even if the effect is gone. */
function isSubtaskOutcome(value: Json): boolean {
  return typeof value === 'object' && value !== null && 'subtaskId' in value
}

function chargeAfterEnd(world: World, session: Entity, agent: Entity, call: Entity): void {
  const usage = usageIn(world.read(call, Outcome))
  if (usage !== undefined) chargeAsker(world, session, { agent, call }, usage)
}

function usageIn(outcome: OutcomeData): SessionUsage | undefined {
  const value = outcome.ok ? outcome.value : undefined
  const usage = typeof value === 'object' && value !== null && 'usage' in value ? value['usage'] : undefined
  return usage === undefined ? undefined : parsedAs(SessionUsage(), usage)
}

/** Charges the parent, under the session's model, for what is new in the total of a session and those below it. */
function chargeSession(world: World, session: Entity, usage: SessionUsage, isUnderWay = false): void {
  const { model, parent, startedAtMs, status, usage: recorded } = world.read(session, SubagentSession)
  const before = world.get(session, ReportedUsage)?.usage ?? recorded
  const fresh = newlySpent(before, usage)
  world.set(session, ReportedUsage, { agent: parent, usage: highestOf(before, usage) })
  const wasCut = recorded === undefined && startedAtMs !== undefined && isFinal(status)
  if (wasCut && !isUnderWay) noteKnown(world, parent, session)
  if (fresh !== undefined) charge(world, parent, { ...fresh, call: session, model })
}

/**
 * Charges what a session spent after its end, on a question or on archiving, to the agent that wanted it.
 * @param asker without `call`: the asking entity is gone, and its turn is over
 */
function chargeAsker(
  world: World,
  session: Entity,
  { agent, call }: { readonly agent: Entity; readonly call?: Entity },
  usage: SessionUsage,
): void {
  const { model, usageAfterEnd } = world.read(session, SubagentSession)
  const fresh = newlySpent(undefined, usage)
  if (fresh !== undefined) world.patch(session, SubagentSession, { usageAfterEnd: sumOf(usageAfterEnd, usage) })
  if (fresh !== undefined) {
    charge(world, agent, { ...fresh, ...(call === undefined ? { isLate: true } : { call }), model })
  }
  world.set(agent, Delegated, withSpent(delegatedBy(world, agent), usage))
}

/** Charges what is new in a subtask's total. A closed account is not charged. */
function chargeSubtask(world: World, subtaskId: string, spent: SubtaskSpending): void {
  const account = accountOf(world, subtaskId)
  if (account === undefined) return
  const { agent, model, spent: before } = world.read(account, SubtaskAccount)
  const fresh = newlySpent({ ...before, sessions: 0 }, { ...spent, sessions: 0 })
  if (fresh === undefined) return
  const { sessions: _, ...all } = highestOf({ ...before, sessions: 0 }, { ...spent, sessions: 0 })
  const estimated = Math.max(spent.estimated ?? 0, before.estimated ?? 0)
  world.set(account, SubtaskAccount, { agent, model, spent: estimated > 0 ? { ...all, estimated } : all, subtaskId })
  // Of calls that were estimated only the number is kept apart: their tokens are among those of the others.
  const { calls = 0, costUnknown } = fresh
  const guessed = Math.min(calls, estimated - (before.estimated ?? 0))
  const unknown = costUnknown === undefined ? {} : { costUnknown: Math.max(0, costUnknown - guessed) }
  charge(world, agent, { ...fresh, ...unknown, call: account, calls: calls - guessed, model })
  if (guessed > 0) {
    const costNanoUsd = fresh.costNanoUsd === undefined || (costUnknown ?? 0) > 0 ? undefined : 0
    charge(world, agent, { call: account, calls: guessed, costNanoUsd, isEstimated: true, model, usage: {} })
  }
}

/** The account of a subtask whose final spending is not known yet. */
export function accountOf(world: World, subtaskId: string): Entity | undefined {
  return world.query(SubtaskAccount).find((each) => world.read(each, SubtaskAccount).subtaskId === subtaskId)
}
