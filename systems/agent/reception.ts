import { SessionEnd } from '../../components/sessions/ancestry.ts'
import { Archival } from '../../components/context/archival.ts'
import { AskedAgain } from '../../components/context/holder.ts'
import { Conversation } from '../../components/agent/conversation.ts'
import { PlanMode } from '../../components/agent/policy.ts'
import { inPlanMode } from '../../src/rules/policy/plan-mode.ts'
import { DelegationLimits } from '../../components/sessions/delegation-limits.ts'
import type { InputOf } from '../../src/protocol/input.ts'
import { TurnOutputSchema } from '../../components/agent/llm.ts'
import { LastQuestion } from '../../components/sessions/session-call.ts'
import { LastStep, StepStopped, Terminal } from '../../components/agent/agent-tags.ts'
import { LastTurn } from '../../components/agent/turn.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit, refuseLatched } from '../kit.ts'
import { resetCeiling } from '../money/cost-ceiling.ts'
import { endWait } from '../sessions/wait.ts'
import { beginTurn } from './workspace.ts'

/**
 * Adds incoming messages to conversations, and resets cost ceilings. A message to a working agent joins at its next
 * step.
 * Writes: Conversation, TurnOutputSchema, SubagentWait, StepStopped; CostCeiling, Ceilings; of an ended session,
 * DelegationLimits; of an agent with a workspace, WorkspaceEntry, WorkspaceState, Handle.
 */
export const reception = {
  name: 'reception',
  priority: -90,
  wakes: ['message', 'cost-ceiling-reset'],
  run(world: World): void {
    for (const input of world.inputs) {
      if (input.kind === 'message') receive(world, input as InputOf<'message'>)
      // In order of arrival: a message behind a reset reaches an agent that is no longer stopped.
      else if (input.kind === 'cost-ceiling-reset') resetCeiling(world, input as InputOf<'cost-ceiling-reset'>)
    }
  },
}

function receive(world: World, { agent, id, message, output }: InputOf<'message'>): void {
  const reason = refusal(world, agent)
  if (reason !== undefined) return emit(world, 'input-refused', { kind: 'message', agent, reason })
  if (refuseLatched(world, agent)) return
  endWait(world, agent)
  world.remove(agent, StepStopped)
  if (world.has(agent, SessionEnd)) reopen(world, agent, id)
  const remembered = beginTurn(world, agent, message)
  world.append(agent, Conversation, world.has(agent, PlanMode) ? inPlanMode(message) : message)
  if (remembered !== undefined) world.append(agent, Conversation, remembered)
  if (output !== undefined) world.add(agent, TurnOutputSchema({ schema: output }))
}

/**
 * Lets an ended session answer another question: its steps restart, and it may spend what was granted for the question
 * by a `granted` input of this tick or an earlier one.
 */
function reopen(world: World, agent: Entity, id: string | undefined): void {
  for (const token of [SessionEnd, LastTurn, LastStep]) world.remove(agent, token)
  if (world.has(agent, Archival)) world.add(agent, AskedAgain)
  if (world.has(agent, DelegationLimits) && world.get(agent, LastQuestion)?.id !== id) {
    world.patch(agent, DelegationLimits, { costUsd: undefined, tokens: undefined })
  }
}

function refusal(world: World, agent: number): string | undefined {
  if (!world.has(agent, Conversation)) return 'there is no such agent'
  return world.has(agent, Terminal) ? 'the agent has ended' : undefined
}
