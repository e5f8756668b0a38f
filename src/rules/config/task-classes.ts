import { type ModelsByTier, type TaskClass, taskClasses, type Tier } from '../../protocol/tier.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { modelOfTier } from './model-tiers.ts'

/** What a class of tasks stands for. */
export interface TaskBundle {
  readonly tier: Tier
  /** Fullness at which a conversation is compacted. */
  readonly threshold: number
  /** `allow`: tools that would be asked about run unless the user says otherwise. `auto`: nothing is changed. */
  readonly askMode: 'auto' | 'allow'
}

export const taskBundles: Readonly<Record<TaskClass, TaskBundle>> = {
  debug: { tier: 'frontier', threshold: 0.65, askMode: 'auto' },
  implement: { tier: 'frontier', threshold: 0.7, askMode: 'auto' },
  chat: { tier: 'mid', threshold: 0.85, askMode: 'auto' },
  research: { tier: 'mid', threshold: 0.65, askMode: 'allow' },
  review: { tier: 'frontier', threshold: 0.75, askMode: 'auto' },
}

export interface TaskDefaultsOptions {
  readonly taskClass: TaskClass
  /** The part of a model's name before the slash. */
  readonly provider: string
  /** What the user has set; it wins over the class. */
  readonly config?: {
    readonly model?: string | undefined
    readonly threshold?: number | undefined
    readonly approvalMode?: 'allow' | 'ask' | 'deny' | undefined
    /** Looked at before the built-in table. */
    readonly modelsByTier?: ModelsByTier | undefined
  }
}

/** What holds for a task, where the user has set nothing. */
export interface TaskDefaults extends TaskBundle {
  /** As it was set, or by its name without the provider. Absent: the provider's own default stands. */
  readonly model?: string
  /** Absent: it is left alone. */
  readonly approvalMode?: 'allow' | 'ask' | 'deny'
}

/** @throws `config-invalid` for a class that is none, naming those that are */
export function taskDefaults({ taskClass, provider, config = {} }: TaskDefaultsOptions): TaskDefaults {
  if (!taskClasses.includes(taskClass)) {
    const message = `context.task_class: expected one of ${taskClasses.join(', ')}, came '${taskClass}'.`
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
