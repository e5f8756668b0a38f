import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { lazily } from '../../src/base/lazily.ts'
import { flag, fraction, modelName, oneOf, positive, whole } from '../../src/protocol/setting.ts'
import { ModelsByTier, taskClasses, TierTable } from '../../src/protocol/tier.ts'

/** Fullness is the used share of the context window, 0–1. */
export const Compaction = lazily(() =>
  z.strictObject({
    /** Weigh what a rewrite loses in cached tokens before compacting automatically. @default false */
    cacheAware: flag().default(false),
    /** Compact automatically; on request it always happens. @default true */
    enabled: flag().default(true),
    /** Output limit of a summary call, a checkpoint's too, in tokens. @default 4096 */
    maxOutputTokens: whole(1).default(4_096),
    /** Fullness that compacts inside a turn too; `null`: none. @default 0.95 */
    midTurn: positive(1).nullable().default(0.95),
    /** Fullness at which it is due. Absent: that of the task class, or of the model's tier. */
    threshold: fraction().optional(),
    /** The same for models of one tier; beats `threshold`. @default {} */
    thresholdByTier: z
      .strictObject({ frontier: fraction().optional(), mid: fraction().optional(), small: fraction().optional() })
      .prefault({}),
    /** World time for a summary call, a checkpoint's too. @default 120000 */
    timeoutMs: positive().default(120_000),
  }),
)

export const Checkpoint = lazily(() => z.strictObject({ enabled: flag().default(true) }))

/** Tools that read with a smaller model and return a digest. */
export const Agentic = lazily(() =>
  z.strictObject({
    /** @default 8000 */
    maxDigestChars: whole(1).default(8_000),
    /** Runs their subtasks. Absent: the provider's small model, else the agent's own. */
    smallModel: modelName().optional(),
    tools: flag().default(true),
  }),
)

/** What to do about repeated calls; each mode includes those before it. */
export const watchdogMode = lazily(() => oneOf('off', 'warn', 'feedback', 'enforce').default('warn'))

/** Identical calls in a row. */
export const watchdogThreshold = lazily(() => whole(2).default(5))

export const taskClass = lazily(() => oneOf(...taskClasses).optional())

/** Context settings. An agent without it has no compaction, checkpoints or wrappers. */
export const Context = defineComponent('Context', () =>
  z.strictObject({
    agentic: Agentic().prefault({}),
    checkpoint: Checkpoint().prefault({}),
    compaction: Compaction().prefault({}),
    /** Overrides the built-in table. @default {} */
    modelsByTier: ModelsByTier().prefault({}),
    /** Declared by the user. Absent: nothing is assumed. */
    taskClass: taskClass(),
    /** Looked at before the built-in table. @default {} */
    tiers: TierTable().prefault({}),
    watchdog: z.strictObject({ mode: watchdogMode(), threshold: watchdogThreshold() }).prefault({}),
  }),
)
export type ContextData = DataOf<() => typeof Context.schema>
