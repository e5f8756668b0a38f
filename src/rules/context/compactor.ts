import { Context, type ContextData } from '../../../components/context/context.ts'
import { type CachePrice, LastCall, type LastCallData } from '../../../components/context/last-call.ts'
import { type TaskClass, taskClasses, type Tier, tiers as allTiers } from '../../protocol/tier.ts'
import { modelTier } from '../config/model-tiers.ts'
import { checkpointPrompt, compactionPrompt, type SummaryPrompt, type SummaryView } from './summary-prompt.ts'
import { taskBundles } from '../config/task-classes.ts'
import type { BoundaryEntry } from '../../protocol/context.ts'
import { oncePerObject, oncePerValue } from '../once-per.ts'
import type { Entity } from '../../world/component.ts'
import { checkOptions, oneOf, type ShapesOf, table } from '../../base/option-shapes.ts'
import type { World } from '../../world/world.ts'
import { UncountedCalls } from '../../../components/money/token-factors.ts'

/** How full an agent's context window was at its newest own call. */
export interface CompactionView {
  /** In tokens. */
  readonly contextWindow?: number | undefined
  /** Share of the window that the prompt took. Absent: unknown, and nothing is decided. */
  readonly fullness?: number | undefined
  /** Fullness at which an open turn is compacted; `null`: never. */
  readonly midTurn: number | null
  /** `provider/model`. */
  readonly model: string
  /**
   * `turn-end`: a turn has ended. `mid-turn`: another step is about to start. `asked`: a program asks for a compaction
   * if needed. `next-call`: the first call after a compaction shows whether it helped.
   */
  readonly moment: 'turn-end' | 'mid-turn' | 'asked' | 'next-call'
  readonly promptTokens?: number | undefined
  readonly threshold: CompactionThreshold
  readonly tier?: Tier | undefined
}

/** When to compact, and with what prompt. Pure: the same view gives the same result. */
export interface Compactor {
  readonly should: (view: CompactionView) => boolean
  readonly prompt: (view: SummaryView) => SummaryPrompt
}

/** At the threshold; inside a turn at the larger of that and `midTurn`. */
export const standardCompactor: Compactor = {
  should({ fullness, midTurn, moment, threshold }) {
    if (fullness === undefined) return false
    if (moment !== 'mid-turn') return fullness >= threshold.value
    return midTurn !== null && fullness >= (midTurn > threshold.value ? midTurn : threshold.value)
  },
  prompt: compactionPrompt,
}

const tierThresholds: Readonly<Record<Tier, number>> = { frontier: 0.85, mid: 0.65, small: 0.35 }

/** Of a model without a known tier. */
const defaultThreshold = 0.85

/** What the threshold follows from. */
export interface CompactionThresholdOptions {
  /** Of the model of the agent's last own call. */
  readonly tier?: Tier | undefined
  readonly taskClass?: TaskClass | undefined
  /** The agent's compaction settings. */
  readonly config?:
    | {
        readonly threshold?: number | undefined
        readonly thresholdByTier?: { readonly [Name in Tier]?: number | undefined } | undefined
      }
    | undefined
}

const optionShapes: ShapesOf<CompactionThresholdOptions> = {
  tier: oneOf(...allTiers),
  taskClass: oneOf(...taskClasses),
  config: table,
}

/** When the conversation is compacted, and what that follows from. */
export interface CompactionThreshold {
  /** Compact when the window is this full (0–1). */
  readonly value: number
  /** What decided it. */
  readonly source: 'threshold_by_tier' | 'threshold' | 'task_class' | 'tier' | 'default'
}

/**
 * The fullness at which to compact: the user's setting, else the task class's, else the tier's.
 * @throws `invalid-argument`
 */
export function compactionThreshold(options: CompactionThresholdOptions): CompactionThreshold {
  checkOptions('compactionThreshold', options, optionShapes)
  const { tier, taskClass, config } = options
  const ofTier = tier && config?.thresholdByTier?.[tier]
  if (ofTier !== undefined) return { value: ofTier, source: 'threshold_by_tier' }
  if (config?.threshold !== undefined) return { value: config.threshold, source: 'threshold' }
  if (taskClass !== undefined) return { value: taskBundles[taskClass].threshold, source: 'task_class' }
  if (tier !== undefined) return { value: tierThresholds[tier], source: 'tier' }
  return { value: defaultThreshold, source: 'default' }
}

/** `undefined` for an agent without an own call since its projection was last rewritten. */
export function compactionView(
  world: World,
  agent: Entity,
  moment: CompactionView['moment'],
  context = world.get(agent, Context),
): CompactionView | undefined {
  const last = lastCallOf(world, agent)
  if (last === undefined || context === undefined) return undefined
  const { contextWindow, model, promptTokens } = last
  const { threshold, tier } = thresholdsOf(context)(model)
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

/** Needed at each step. */
const thresholdsOf = oncePerObject(({ compaction, taskClass, tiers }: ContextData) =>
  oncePerValue((model: string) => {
    const tier = modelTier(model, tiers)
    return { threshold: compactionThreshold({ tier, taskClass, config: compaction }), tier }
  }),
)

/** What is known of an agent's prompt cache when a compaction is due. */
export interface CacheFacts {
  /** Of all prompt tokens of the last call. Absent: unknown. */
  readonly cachePrice?: CachePrice | undefined
  /** Tokens in the provider's cache. Absent: unknown. */
  readonly cachedTokens?: number | undefined
  /** Most prompt tokens left after the compaction. */
  readonly leftTokens: number
  readonly promptTokens: number
  /** Of the last turn; as many are expected of the next. */
  readonly steps: number
}

/**
 * Does a compaction cost more than it saves? It costs writing the cached tokens anew instead of reading them. It saves,
 * at each expected step, reading the removed tokens. Unknown values count as no.
 */
export function losesMore({ cachePrice, cachedTokens, leftTokens, promptTokens, steps }: CacheFacts): boolean {
  if (cachePrice === undefined || cachedTokens === undefined) return false
  const { readNanoUsd, writeNanoUsd } = cachePrice
  const savedTokens = promptTokens > leftTokens ? promptTokens - leftTokens : 0
  // Both sides times the prompt's tokens: products of whole numbers, and no division.
  return cachedTokens * (writeNanoUsd - readNanoUsd) > savedTokens * readNanoUsd * steps
}

/** Does the agent keep its context alive at all: does it have a `Context`? */
export function hasCompactor(world: World, agent: Entity): boolean {
  return world.has(agent, Context)
}

/** An agent's newest own call since its projection was last rewritten, with its prompt tokens. */
export function lastCallOf(world: World, agent: Entity): Omit<LastCallData, 'isBehind'> | undefined {
  const last = world.get(agent, LastCall)
  if (last?.isBehind !== true) return last
  const { cachePrice, contextWindow, model } = last
  return { cachePrice, contextWindow, model, promptTokens: world.get(agent, UncountedCalls)?.at(-1)?.promptTokens }
}

/** An agent that is about to take a step, or is idle. */
export interface CheckpointView {
  /** Who said that the task is done. */
  readonly by?: BoundaryEntry['by'] | undefined
  /** The task was said to be done. */
  readonly isPending: boolean
  /** Messages that a record would replace. */
  readonly messages: number
  readonly note?: string | undefined
}

/** When to replace a task by a record, and with what prompt. Pure: the same view gives the same result. */
export interface Checkpointer {
  readonly should: (view: CheckpointView) => boolean
  readonly prompt: (view: SummaryView) => SummaryPrompt
}

/** As soon as the task is said to be done. */
export const standardCheckpointer: Checkpointer = {
  should: ({ isPending }) => isPending,
  prompt: checkpointPrompt,
}

/** Does the agent have checkpoints switched on? */
export function hasCheckpointer(world: World, agent: Entity): boolean {
  return world.get(agent, Context)?.checkpoint.enabled === true
}
