import { Policy, PolicyState } from '../../../components/agent/policy.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/**
 * The model that an agent, and whatever summarizes its conversation, must call once it has touched personal data under
 * `routing: 'enforce'`; `undefined`: the agent's own.
 */
export function enforcedModel(world: World, agent: Entity): string | undefined {
  if (world.get(agent, PolicyState)?.sticky !== true) return undefined
  const { localModel, routing } = world.get(agent, Policy)?.config ?? {}
  if (routing !== 'enforce' || localModel === undefined) return undefined
  return localModel.includes('/') ? localModel : `ollama/${localModel}`
}
