import { Context } from '../../../components/context/context.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { Outcome } from '../../../components/effects/outcome.ts'
import { Subtask, type SubtaskOutcome } from '../../../components/sessions/subtask.ts'
import { SubtaskCount } from '../../../components/sessions/subtask-account.ts'
import { modelOfTier } from '../../../src/rules/config/models-by-tier.ts'
import { parseModel } from '../../../src/rules/projection/model-name.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { emit } from '../../kit/emit.ts'
import { accountOf } from '../../money/charge-children.ts'
import { launchSubtask, noSubtasks } from './launch-subtask.ts'

/**
 * What thinks for the subtasks of an agent's wrappers: the model that was set, else the small one of the agent's provider,
 * else the agent's own. By its bare name, a model is one of the agent's provider.
 */
export function smallModelOf(world: World, agent: Entity): { readonly model: string; readonly fallback?: string } {
  const { model: own } = world.read(agent, Llm)
  const { agentic, modelsByTier } = world.get(agent, Context) ?? {}
  const { provider } = parseModel(own)
  const full = (name: string): string => (name.includes('/') ? name : `${provider}/${name}`)
  if (agentic?.smallModel !== undefined) return { model: full(agentic.smallModel) }
  const small = modelOfTier(provider, 'small', modelsByTier)
  const model = small === undefined ? own : full(small)
  const isUsable = model !== own && world.get(agent, SubtaskCount)?.unavailable?.includes(model) !== true
  return isUsable ? { model, fallback: own } : { model: own }
}

/** Was a default model of a subtask refused at its first call, as one is that the provider does not have? */
export function isUnavailable(world: World, effect: Entity, { failure, stepsUsed }: SubtaskOutcome): boolean {
  const { fallback } = world.read(effect, Subtask)
  return fallback !== undefined && failure?.kind === 'invalid-request' && stepsUsed <= 1
}

/** Runs a subtask once more with the model of its agent, and remembers that the default one is not to be had. */
export function fallBack(world: World, effect: Entity, { failure, subtaskId }: SubtaskOutcome): void {
  const { fallback, model, subtaskId: _, ...asked } = world.read(effect, Subtask)
  const { agent } = asked
  const account = accountOf(world, subtaskId)
  if (account !== undefined) world.despawn(account)
  const { unavailable = [], ...count } = world.get(agent, SubtaskCount) ?? noSubtasks
  if (!unavailable.includes(model)) {
    world.set(agent, SubtaskCount, { ...count, unavailable: [...unavailable, model] })
    emit(world, 'small-model-unavailable', { agent, model, message: failure?.message ?? '' })
  }
  world.remove(effect, Outcome)
  launchSubtask(world, effect, { ...asked, model: fallback ?? model })
}
