import { Llm } from '../../components/agent/llm.ts'
import { PolicyState } from '../../components/agent/policy.ts'
import { Unread } from '../../components/agent/conversation.ts'
import { enforcedModel } from '../../src/rules/policy/routing.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { emit } from '../kit.ts'

/**
 * Moves agents that have touched personal data to the local model before their next step, where their policy enforces
 * that.
 * Writes: Llm.
 */
export const routing = {
  name: 'routing',
  priority: -3.2,
  wakes: [[PolicyState, Unread]],
  run(world: World): void {
    for (const agent of world.query(PolicyState, Unread)) route(world, agent)
  },
}

function route(world: World, agent: Entity): void {
  const model = enforcedModel(world, agent)
  const own = world.get(agent, Llm)
  if (model === undefined || own === undefined || own.model === model) return
  // Options of another provider say nothing to this one.
  const { maxOutputTokens, timeoutMs } = own
  world.set(agent, Llm, { model, maxOutputTokens, timeoutMs })
  const message = `The conversation has touched personal data and goes on with the local model ${model}.`
  emit(world, 'warning', { agent, message })
}
