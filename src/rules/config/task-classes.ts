import { type ModelsByTier, type TaskClass, taskClasses, type Tier } from '../../protocol/tier.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { modelOfTier } from './model-tiers.ts'

/** The settings that a task class stands for. */
export interface TaskBundle {
  readonly tier: Tier
  /** Compact when the window is this full (0–1). */
  readonly threshold: number
  /** `allow`: tools that need an approval run unless the user says otherwise. `auto`: unchanged. */
  readonly askMode: 'auto' | 'allow'
}

export const taskBundles: Readonly<Record<TaskClass, TaskBundle>> = {
  debug: { tier: 'frontier', threshold: 0.65, askMode: 'auto' },
  implement: { tier: 'frontier', threshold: 0.7, askMode: 'auto' },
  chat: { tier: 'mid', threshold: 0.85, askMode: 'auto' },
  research: { tier: 'mid', threshold: 0.65, askMode: 'allow' },
  review: { tier: 'frontier', threshold: 0.75, askMode: 'auto' },
}

/** Options of `taskDefaults`. */
export interface TaskDefaultsOptions {
  readonly taskClass: TaskClass
  readonly provider: string
  /** The user's settings, which win over the class. */
  readonly config?: {
    readonly model?: string | undefined
    readonly threshold?: number | undefined
    readonly approvalMode?: 'allow' | 'ask' | 'deny' | undefined
    /** Overrides of the built-in table. */
    readonly modelsByTier?: ModelsByTier | undefined
  }
}

/** Settings for a task, where the user has set none. */
export interface TaskDefaults extends TaskBundle {
  /** As the user set it, or without the provider. Absent: the provider's default model. */
  readonly model?: string
  /** Absent: unchanged. */
  readonly approvalMode?: 'allow' | 'ask' | 'deny'
}

/** @throws `config-invalid` for an unknown class, naming the known ones */
export function taskDefaults({ taskClass, provider, config = {} }: TaskDefaultsOptions): TaskDefaults {
  if (!taskClasses.includes(taskClass)) {
    const message = `context.task_class: expected one of ${taskClasses.join(', ')}, got '${taskClass}'.`
    throw new EntiaError('config-invalid', message, { path: 'context.task_class' })
  }
  const { tier, threshold, askMode } = taskBundles[taskClass]
  const model = config.model ?? modelOfTier(provider, tier, config.modelsByTier)
  const approvalMode = config.approvalMode ?? (askMode === 'allow' ? 'allow' : undefined)
  return {
    tier,
    threshold: config.threshold ?? threshold,
    askMode,
    ...(model !== undefined && { model }),
    ...(approvalMode !== undefined && { approvalMode }),
  }
}
