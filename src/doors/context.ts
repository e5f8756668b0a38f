/** What keeps a context alive: its settings, the decisions behind it, and what it has done so far. */

// Switched on: components of an agent, from a configuration or one by one.
export { Archival } from '../../components/archival.ts'
export { Ceilings } from '../../components/ceilings.ts'
export { Context } from '../../components/context.ts'
export type { ConfigInput } from '../context/checked-layer.ts'
export { type Config, configured, readConfig } from '../context/config.ts'
export { mergeConfig } from '../context/merge-config.ts'

// Compaction and checkpoints: thresholds, and judgements of your own for `standardSystems`.
export { type CheckpointView, type Checkpointer, hasCheckpointer } from '../context/checkpointer.ts'
export {
  compactionThreshold,
  type CompactionThreshold,
  type CompactionThresholdOptions,
  type CompactionView,
  type Compactor,
  hasCompactor,
} from '../context/compactor.ts'
export type { SummaryPrompt, SummaryView } from '../context/summary-prompt.ts'

// Archival: which turns move to a holder.
export type { ArchiveReason } from '../../components/archive.ts'
export {
  type ArchivalDecision,
  archivalDecision,
  type EndedTurnView,
  type SkipReason,
} from '../context/archival-decision.ts'

// Model tiers and task classes: what a setting is where nothing sets it.
export { type TaskClass, taskClasses } from '../../components/task-class.ts'
export { type ModelsByTier, type Tier, tiers, type TierTable } from '../../components/tier.ts'
export { modelTier } from '../context/model-tiers.ts'
export { modelOfTier } from '../context/models-by-tier.ts'
export {
  smallTierNotice,
  type SmallTierNoticeOptions,
  smallTierParentCheck,
  type SmallTierParentOptions,
} from '../context/small-tier-parent.ts'
export { type TaskBundle, taskDefaults, type TaskDefaults, type TaskDefaultsOptions } from '../context/task-classes.ts'

// Calls of a Runner: their options and results.
export type { SubtaskResult } from '../../components/subtask.ts'
export type { SummaryResult, SummarySkipReason } from '../../components/summary-result.ts'
export {
  type CheckpointOptions,
  type CompactOptions,
  type CostCeilingReset,
  subtaskDefaults,
  type SubtaskOptions,
} from '../engine/requests.ts'

// Looking at it: token counts, figures, and the commands of a program that talks with people.
export { contextReport } from '../context/context-report.ts'
export { type ContextStats, contextStats, type ModelRow, type NotAutomatic } from '../context/context-stats.ts'
export { type Countable, estimateTokens, type EstimateOptions } from '../context/estimate-tokens.ts'
export type { ObservedCall, WatchdogAlert, WatchdogSignal } from '../context/watchdog-signal.ts'
export {
  type ContextCommand,
  contextCommand,
  type ContextCommandResult,
  contextCommands,
} from '../engine/context-commands.ts'
