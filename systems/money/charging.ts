import { Settling } from '../../components/context/holder.ts'
import type { InputOf } from '../../components/input.ts'
import { ModelCall } from '../../components/effects/model-call.ts'
import { Outcome, type OutcomeData } from '../../components/effects/outcome.ts'
import { SessionQuery } from '../../components/sessions/session-call.ts'
import { SideCall } from '../../components/effects/side-call.ts'
import { SessionUsage, SubagentSession } from '../../components/sessions/subagent-session.ts'
import { SubtaskAccount } from '../../components/sessions/subtask-account.ts'
import { subtaskOutcome } from '../../src/rules/delegation/subtask-result.ts'
import type { Entity } from '../../src/world/component.ts'
import type { Input } from '../../src/world/input.ts'
import type { Json } from '../../src/world/json.ts'
import { parsedAs } from '../../src/world/parsed-as.ts'
import type { World } from '../../src/world/world.ts'
import { settled } from '../kit/settled.ts'
import { chargeSettled } from './charge-call.ts'
import { chargeAsker, chargeSession, chargeSubtask } from './charge-children.ts'

/**
 * Enters in the ledgers what settled model calls have cost, and what sessions, questions to them and subtasks have spent:
 * each once, before another system takes the outcome. A call that a later system of the tick cuts short is charged there,
 * by `endCall`.
 *
 * Query: Outcome. Writes: Ledger, UsageBeside, Delegated, ReportedUsage, SubtaskAccount, CostCeiling, CeilingNotes,
 * TokenFactors.
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
    for (const call of settled(world, ModelCall)) chargeSettled(world, call)
    for (const call of settled(world, SideCall)) chargeSettled(world, call)
  },
}

/** What sessions and subtasks have spent in all: reported while they run, with their outcomes, or after they were stopped. */
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

function chargeReport(world: World, { asker, session, usage }: InputOf<'session-spent'>): void {
  if (!world.has(session, SubagentSession)) return
  if (asker === undefined) chargeSession(world, session, usage)
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

/** A subtask says its id: what it has spent counts even if its effect is gone. */
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
