import type { TaskClass } from '../../components/task-class.ts'
import type { Tier } from '../../components/tier.ts'
import { taskBundles } from './task-classes.ts'

const tierThresholds: Readonly<Record<Tier, number>> = { frontier: 0.85, mid: 0.65, small: 0.35 }

/** Of a model without a tier. */
const defaultThreshold = 0.85

export interface CompactionThresholdOptions {
  /** Of the model of the agent's last own call. */
  readonly tier?: Tier | undefined
  readonly taskClass?: TaskClass | undefined
  /** The agent's settings for compaction. */
  readonly config?:
    | {
        readonly threshold?: number | undefined
        readonly thresholdByTier?: { readonly [Name in Tier]?: number | undefined } | undefined
      }
    | undefined
}

export interface CompactionThreshold {
  /** Fullness at which a conversation is compacted. */
  readonly value: number
  /** What decided it. */
  readonly source: 'threshold_by_tier' | 'threshold' | 'task_class' | 'tier' | 'default'
}

/** The fullness at which a conversation is compacted: what the user set, before the task class's, before the tier's. */
export function compactionThreshold(options: CompactionThresholdOptions): CompactionThreshold {
  const { tier, taskClass, config } = options
  const ofTier = tier && config?.thresholdByTier?.[tier]
  if (ofTier !== undefined) return { value: ofTier, source: 'threshold_by_tier' }
  if (config?.threshold !== undefined) return { value: config.threshold, source: 'threshold' }
  if (taskClass !== undefined) return { value: taskBundles[taskClass].threshold, source: 'task_class' }
  if (tier !== undefined) return { value: tierThresholds[tier], source: 'tier' }
  return { value: defaultThreshold, source: 'default' }
}
