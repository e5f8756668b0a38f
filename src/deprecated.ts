/** Names that moved to another door. They can be imported from `entia` for one more version. */

export {
  /** @deprecated Import it from 'entia/context'. */
  Archival,
  /** @deprecated Import it from 'entia/context'. */
  type ArchivalDecision,
  /** @deprecated Import it from 'entia/context'. */
  archivalDecision,
  /** @deprecated Import it from 'entia/context'. */
  type ArchiveReason,
  /** @deprecated Import it from 'entia/context'. */
  Ceilings,
  /** @deprecated Import it from 'entia/context'. */
  type Checkpointer,
  /** @deprecated Import it from 'entia/context'. */
  type CheckpointOptions,
  /** @deprecated Import it from 'entia/context'. */
  type CheckpointView,
  /** @deprecated Import it from 'entia/context'. */
  compactionThreshold,
  /** @deprecated Import it from 'entia/context'. */
  type CompactionThreshold,
  /** @deprecated Import it from 'entia/context'. */
  type CompactionThresholdOptions,
  /** @deprecated Import it from 'entia/context'. */
  type CompactionView,
  /** @deprecated Import it from 'entia/context'. */
  type CompactOptions,
  /** @deprecated Import it from 'entia/context'. */
  type Compactor,
  /** @deprecated Import it from 'entia/context'. */
  type Config,
  /** @deprecated Import it from 'entia/context'. */
  type ConfigInput,
  /** @deprecated Import it from 'entia/context'. */
  configured,
  /** @deprecated Import it from 'entia/context'. */
  Context,
  /** @deprecated Import it from 'entia/context'. */
  type ContextCommand,
  /** @deprecated Import it from 'entia/context'. */
  contextCommand,
  /** @deprecated Import it from 'entia/context'. */
  type ContextCommandResult,
  /** @deprecated Import it from 'entia/context'. */
  contextCommands,
  /** @deprecated Import it from 'entia/context'. */
  contextReport,
  /** @deprecated Import it from 'entia/context'. */
  type ContextStats,
  /** @deprecated Import it from 'entia/context'. */
  contextStats,
  /** @deprecated Import it from 'entia/context'. */
  type CostCeilingReset,
  /** @deprecated Import it from 'entia/context'. */
  type Countable,
  /** @deprecated Import it from 'entia/context'. */
  type EndedTurnView,
  /** @deprecated Import it from 'entia/context'. */
  type EstimateOptions,
  /** @deprecated Import it from 'entia/context'. */
  estimateTokens,
  /** @deprecated Import it from 'entia/context'. */
  hasCheckpointer,
  /** @deprecated Import it from 'entia/context'. */
  hasCompactor,
  /** @deprecated Import it from 'entia/context'. */
  mergeConfig,
  /** @deprecated Import it from 'entia/context'. */
  modelOfTier,
  /** @deprecated Import it from 'entia/context'. */
  type ModelRow,
  /** @deprecated Import it from 'entia/context'. */
  type ModelsByTier,
  /** @deprecated Import it from 'entia/context'. */
  modelTier,
  /** @deprecated Import it from 'entia/context'. */
  type NotAutomatic,
  /** @deprecated Import it from 'entia/context'. */
  type ObservedCall,
  /** @deprecated Import it from 'entia/context'. */
  readConfig,
  /** @deprecated Import it from 'entia/context'. */
  type SkipReason,
  /** @deprecated Import it from 'entia/context'. */
  smallTierNotice,
  /** @deprecated Import it from 'entia/context'. */
  type SmallTierNoticeOptions,
  /** @deprecated Import it from 'entia/context'. */
  smallTierParentCheck,
  /** @deprecated Import it from 'entia/context'. */
  type SmallTierParentOptions,
  /** @deprecated Import it from 'entia/context'. */
  subtaskDefaults,
  /** @deprecated Import it from 'entia/context'. */
  type SubtaskOptions,
  /** @deprecated Import it from 'entia/context'. */
  type SubtaskResult,
  /** @deprecated Import it from 'entia/context'. */
  type SummaryPrompt,
  /** @deprecated Import it from 'entia/context'. */
  type SummaryResult,
  /** @deprecated Import it from 'entia/context'. */
  type SummarySkipReason,
  /** @deprecated Import it from 'entia/context'. */
  type SummaryView,
  /** @deprecated Import it from 'entia/context'. */
  type TaskBundle,
  /** @deprecated Import it from 'entia/context'. */
  type TaskClass,
  /** @deprecated Import it from 'entia/context'. */
  taskClasses,
  /** @deprecated Import it from 'entia/context'. */
  taskDefaults,
  /** @deprecated Import it from 'entia/context'. */
  type TaskDefaults,
  /** @deprecated Import it from 'entia/context'. */
  type TaskDefaultsOptions,
  /** @deprecated Import it from 'entia/context'. */
  type Tier,
  /** @deprecated Import it from 'entia/context'. */
  tiers,
  /** @deprecated Import it from 'entia/context'. */
  type TierTable,
  /** @deprecated Import it from 'entia/context'. */
  type WatchdogAlert,
  /** @deprecated Import it from 'entia/context'. */
  type WatchdogSignal,
} from './doors/context.ts'

export {
  /** @deprecated Import it from 'entia/models'. */
  anthropic,
  /** @deprecated Import it from 'entia/models'. */
  type AnthropicOptions,
  /** @deprecated Import it from 'entia/models'. */
  type CompatibleOptions,
  /** @deprecated Import it from 'entia/models'. */
  contextWindowOf,
  /** @deprecated Import it from 'entia/models'. */
  type DearestRates,
  /** @deprecated Import it from 'entia/models'. */
  moonshot,
  /** @deprecated Import it from 'entia/models'. */
  ollama,
  /** @deprecated Import it from 'entia/models'. */
  openai,
  /** @deprecated Import it from 'entia/models'. */
  openaiCompatible,
  /** @deprecated Import it from 'entia/models'. */
  type OpenAIOptions,
  /** @deprecated Import it from 'entia/models'. */
  parseModel,
  /** @deprecated Import it from 'entia/models'. */
  priced,
  /** @deprecated Import it from 'entia/models'. */
  type PricedCall,
  /** @deprecated Import it from 'entia/models'. */
  type PriceLookup,
  /** @deprecated Import it from 'entia/models'. */
  project,
  /** @deprecated Import it from 'entia/models'. */
  providerDefaults,
  /** @deprecated Import it from 'entia/models'. */
  ratesOf,
  /** @deprecated Import it from 'entia/models'. */
  type ReplyBound,
  /** @deprecated Import it from 'entia/models'. */
  standardRetry,
} from './doors/models.ts'

export {
  /** @deprecated Import it from 'entia/stores'. */
  type Batch,
  /** @deprecated Import it from 'entia/stores'. */
  type JournalRow,
  /** @deprecated Import it from 'entia/stores'. */
  type LostTicks,
  /** @deprecated Import it from 'entia/stores'. */
  type OpenOptions,
  /** @deprecated Import it from 'entia/stores'. */
  sqliteStoreDefaults,
  /** @deprecated Import it from 'entia/stores'. */
  type StoredWorld,
  /** @deprecated Import it from 'entia/stores'. */
  type TranscriptHit,
  /** @deprecated Import it from 'entia/stores'. */
  type TranscriptLine,
  /** @deprecated Import it from 'entia/stores'. */
  type WorldInfo,
  /** @deprecated Import it from 'entia/stores'. */
  type WorldJournal,
} from './doors/stores.ts'

export {
  /** @deprecated Import it from 'entia/components'. */
  Archive,
  /** @deprecated Import it from 'entia/components'. */
  DelegationLimits,
  /** @deprecated Import it from 'entia/components'. */
  OutputSchema,
  /** @deprecated Import it from 'entia/components'. */
  Skills,
  /** @deprecated Import it from 'entia/components'. */
  SubagentSession,
  /** @deprecated Import it from 'entia/components'. */
  Terminal,
  /** @deprecated Import it from 'entia/components'. */
  ToolRegistry,
} from '../components/index.ts'

export {
  /** @deprecated Import it from 'entia/systems'. */
  querySubagentDeclaration,
  /** @deprecated Import it from 'entia/systems'. */
  spawnSubagentDeclaration,
  /** @deprecated Import it from 'entia/systems'. */
  tick,
  /** @deprecated Import it from 'entia/systems'. */
  type TickOptions,
  /** @deprecated Import it from 'entia/systems'. */
  type TickResult,
} from '../systems/index.ts'
