import { Conversation } from '../../components/agent/conversation.ts'
import { Effect, Outcome, OwnedBy, Pending } from '../../components/effects/effect.ts'
import { Failure } from '../../src/protocol/failure.ts'
import { Allowance, AllowanceCall, OnAllowance } from '../../components/money/metered.ts'
import { AllowanceAwaited } from '../../components/agent/agent-tags.ts'
import { parsedAs, type Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { endTurn } from '../agent/end-turn.ts'
import { readyAgents, settled } from '../kit.ts'

/**
 * In a subtask's world: asks the parent's budget before each model call, and ends the turn if it is spent.
 * Writes: Allowance, AllowanceAwaited, and what ending a turn writes. Starts: allowance.
 */
export function allowance(maxStartsPerTick: number) {
  return {
    name: 'allowance',
    priority: -2.9,
    wakes: [OnAllowance],
    run(world: World): void {
      for (const call of settled(world, AllowanceCall)) take(world, call)
      for (const agent of readyAgents(world, maxStartsPerTick, OnAllowance)) {
        const messages = world.read(agent, Conversation).length
        if (world.get(agent, Allowance)?.messages !== messages) ask(world, agent)
      }
    },
  }
}

function ask(world: World, agent: Entity): void {
  const effect = Effect({ attempt: 1, kind: 'allowance', restart: 'pure' })
  world.spawn(AllowanceCall, OwnedBy({ agent }), effect, Pending)
  world.add(agent, AllowanceAwaited)
}

function take(world: World, call: Entity): void {
  const { agent } = world.read(call, OwnedBy)
  const outcome = world.read(call, Outcome)
  world.despawn(call)
  world.remove(agent, AllowanceAwaited)
  const failure = outcome.ok ? parsedAs(Failure(), outcome.value) : outcome.failure
  if (failure === undefined) world.set(agent, Allowance, { messages: world.read(agent, Conversation).length })
  else endTurn(world, agent, { stop: outcome.ok ? 'budget-spent' : 'failed', failure })
}
