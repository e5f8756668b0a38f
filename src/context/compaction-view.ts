import { Context, type ContextData } from '../../components/context.ts'
import type { Tier } from '../../components/tier.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { type CompactionThreshold, compactionThreshold } from './compaction-threshold.ts'
import type { CompactionView } from './compactor.ts'
import { lastCallOf } from './last-call-of.ts'
import { modelTier } from './model-tiers.ts'

/** Of an agent that has made an own call since its projection was last rewritten; otherwise `undefined`. */
export function compactionView(
  world: World,
  agent: Entity,
  moment: CompactionView['moment'],
  context = world.get(agent, Context),
): CompactionView | undefined {
  const last = lastCallOf(world, agent)
  if (last === undefined || context === undefined) return undefined
  const { contextWindow, model, promptTokens } = last
  const { threshold, tier } = thresholdOf(context, model)
  return {
    contextWindow,
    fullness: contextWindow === undefined || promptTokens === undefined ? undefined : promptTokens / contextWindow,
    midTurn: context.compaction.midTurn,
    model,
    moment,
    promptTokens,
    threshold,
    tier,
  }
}

interface ModelThreshold {
  readonly model: string
  readonly threshold: CompactionThreshold
  readonly tier: Tier | undefined
}

/** Asked at each step, and mostly of the same model. */
const known = new WeakMap<ContextData, ModelThreshold>()

function thresholdOf(context: ContextData, model: string): ModelThreshold {
  const last = known.get(context)
  if (last?.model === model) return last
  const { compaction, taskClass, tiers } = context
  const tier = modelTier(model, tiers)
  const found = { model, threshold: compactionThreshold({ tier, taskClass, config: compaction }), tier }
  known.set(context, found)
  return found
}
