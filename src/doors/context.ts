/** What keeps a context alive: its settings, the decisions behind it, and what it has done so far. */

// Switched on: components of an agent, from a configuration or one by one.
export { Archival } from '../../components/context/archival.ts'
export { Ceilings } from '../../components/money/ceilings.ts'
export { Context } from '../../components/context/context.ts'
export { type Config, type ConfigInput, configured, mergeConfig, readConfig } from '../rules/config/config.ts'

// Compaction and checkpoints: thresholds, and judgements of your own for `standardSystems`.
export {
  type Checkpointer,
  type CheckpointView,
  compactionThreshold,
  type CompactionThreshold,
  type CompactionThresholdOptions,
  type CompactionView,
  type Compactor,
  hasCheckpointer,
  hasCompactor,
} from '../rules/context/compactor.ts'
export type { SummaryPrompt, SummaryView } from '../rules/context/summary-prompt.ts'

// Archival: which turns move to a holder.
export type { ArchiveReason, SummaryResult, SummarySkipReason } from '../protocol/context.ts'
export {
  type ArchivalDecision,
  archivalDecision,
  type EndedTurnView,
  type SkipReason,
} from '../rules/context/archival-decision.ts'

// Model tiers and task classes: what a setting is where nothing sets it.
export { type ModelsByTier, type TaskClass, taskClasses, type Tier, tiers, type TierTable } from '../protocol/tier.ts'
export {
  modelOfTier,
  modelTier,
  smallTierNotice,
  type SmallTierNoticeOptions,
  smallTierParentCheck,
  type SmallTierParentOptions,
} from '../rules/config/model-tiers.ts'
export {
  type TaskBundle,
  taskDefaults,
  type TaskDefaults,
  type TaskDefaultsOptions,
} from '../rules/config/task-classes.ts'

// Calls of a Runner: their options and results.
export type { SubtaskResult } from '../protocol/delegation.ts'
export {
  type CheckpointOptions,
  type CompactOptions,
  type CostCeilingReset,
  subtaskDefaults,
  type SubtaskOptions,
} from '../engine/loop/requests.ts'

// Looking at it: token counts, figures, and the commands of a program that talks with people.
export { contextReport } from '../rules/context/context-report.ts'
export { type ContextStats, contextStats, type ModelRow, type NotAutomatic } from '../rules/context/context-stats.ts'
export { type Countable, estimateTokens, type EstimateOptions } from '../rules/tokens/estimate-tokens.ts'
export type { ObservedCall, WatchdogAlert, WatchdogSignal } from '../rules/context/watchdog-signal.ts'
export {
  type ContextCommand,
  contextCommand,
  type ContextCommandResult,
  contextCommands,
} from '../engine/loop/context-commands.ts'
