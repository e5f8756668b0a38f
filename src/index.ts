export { standardSystems, type StandardSystemsOptions } from '../systems/index.ts'
export { Archival } from '../components/archival.ts'
export { Archive, type ArchiveReason } from '../components/archive.ts'
export { Ceilings } from '../components/ceilings.ts'
export { Context } from '../components/context.ts'
export { Conversation } from '../components/conversation.ts'
export type { StandardEvent } from '../components/event.ts'
export type { Failure, FailureKind } from '../components/failure.ts'
export type { StandardInput } from '../components/input.ts'
export { LastTurn, type Stop } from '../components/last-turn.ts'
export { Limits } from '../components/limits.ts'
export { Llm } from '../components/llm.ts'
export type {
  AssistantMessage,
  FileBlock,
  Message,
  ProviderBlock,
  SystemMessage,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolMessage,
  UserMessage,
} from '../components/message.ts'
export { OutputSchema } from '../components/output-schema.ts'
export { Paused } from '../components/paused.ts'
export { Permissions } from '../components/permissions.ts'
export { type RetryPolicy, standardRetry } from '../components/retry-policy.ts'
export { type SubagentConfig, SubagentRegistry } from '../components/subagent-registry.ts'
export { SubagentSession, type SessionUsage } from '../components/subagent-session.ts'
export type { SummaryResult, SummarySkipReason } from '../components/summary-result.ts'
export type { SessionStatus } from '../components/session-status.ts'
export { Skills, type Skill } from '../components/skills.ts'
export { DelegationLimits } from '../components/delegation-limits.ts'
export type { SubtaskResult } from '../components/subtask.ts'
export { SystemPrompt } from '../components/system-prompt.ts'
export { type TaskClass, taskClasses } from '../components/task-class.ts'
export { Terminal } from '../components/terminal.ts'
export { type ModelsByTier, type Tier, tiers, type TierTable } from '../components/tier.ts'
export type { RestartClass, ToolDeclaration } from '../components/tool-declaration.ts'
export { ToolRegistry } from '../components/tool-registry.ts'
export { type TokenUsage, Usage } from '../components/usage.ts'
export { agent, type AgentOptions, assistant, lastText, outputSchema, user } from './agent.ts'
export {
  type ArchivalDecision,
  archivalDecision,
  type EndedTurnView,
  type SkipReason,
} from './context/archival-decision.ts'
export { type ContextCommand, contextCommand, type ContextCommandResult, contextCommands } from './context-commands.ts'
export type { ConfigInput } from './context/checked-layer.ts'
export { type CheckpointView, type Checkpointer, hasCheckpointer } from './context/checkpointer.ts'
export {
  compactionThreshold,
  type CompactionThreshold,
  type CompactionThresholdOptions,
  type CompactionView,
  type Compactor,
  hasCompactor,
} from './context/compactor.ts'
export { type Config, configured, readConfig } from './context/config.ts'
export { mergeConfig } from './context/merge-config.ts'
export { modelTier } from './context/model-tiers.ts'
export { modelOfTier } from './context/models-by-tier.ts'
export {
  smallTierNotice,
  type SmallTierNoticeOptions,
  smallTierParentCheck,
  type SmallTierParentOptions,
} from './context/small-tier-parent.ts'
export type { SummaryPrompt, SummaryView } from './context/summary-prompt.ts'
export { type TaskBundle, taskDefaults, type TaskDefaults, type TaskDefaultsOptions } from './context/task-classes.ts'
export type { ApprovalQuestion, Approve } from './engine/approval-effect.ts'
export { type Clock, realClock } from './engine/clock.ts'
export type { EffectContext, EffectKind } from './engine/effect-kind.ts'
export type {
  EventPlace,
  EventsByType,
  EventTime,
  RunnerEvent,
  RunnerEvents,
  StreamEvent,
  TickEvent,
} from './engine/events.ts'
export { type Countable, estimateTokens, type EstimateOptions } from './context/estimate-tokens.ts'
export { Host } from './engine/host.ts'
export { hostDefaults, type HostOptions, type ToolChangePolicy } from './engine/host-options.ts'
export {
  type Difference,
  type Recording,
  recordingOf,
  replay,
  type ReplayOptions,
  type ReplayResult,
} from './engine/replay.ts'
export { run } from './engine/run.ts'
export { Runner } from './engine/runner.ts'
export {
  type CheckpointOptions,
  type CompactOptions,
  type CostCeilingReset,
  type LaunchOptions,
  subtaskDefaults,
  type SubtaskOptions,
} from './engine/requests.ts'
export type { OpenRunnerOptions, RunnerOptions, RunnerStats } from './engine/runner-options.ts'
export type { TextSoFar } from './engine/texts-so-far.ts'
export { type SessionInfo, type SessionRef, Subagents, type WaitOptions } from './engine/children/subagents.ts'
export type { Transcript } from './engine/children/child-run.ts'
export { VirtualClock, type VirtualClockOptions } from './engine/virtual-clock.ts'
export { anthropic, type AnthropicOptions } from './models/anthropic.ts'
export {
  moonshot,
  ollama,
  openai,
  openaiCompatible,
  type CompatibleOptions,
  type OpenAIOptions,
} from './models/openai.ts'
export { parseModel } from './models/model-name.ts'
export type {
  ModelContext,
  ModelDelta,
  ModelOptions,
  ModelOutcome,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from './models/port.ts'
export type { DearestRates } from './models/call-cost.ts'
export type { Price } from './models/price-overrides.ts'
export { contextWindowOf, priced, type PricedCall, type PriceLookup, ratesOf } from './models/prices.ts'
export { providerDefaults, type ReplyBound } from './models/reply-bound.ts'
export { project } from './models/project.ts'
export {
  fail,
  scripted,
  type ScriptedBehaviour,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedReply,
} from './models/scripted.ts'
export { textOf } from './models/text-of.ts'
export { querySubagentDeclaration, spawnSubagentDeclaration } from './subagents/declarations.ts'
export { SessionPool, type SessionPoolOptions, sessionPoolDefaults } from './subagents/pool.ts'
export type { SkillDefinition } from './subagents/port.ts'
export { memoryStore } from './stores/memory.ts'
export type {
  Batch,
  JournalRow,
  LostTicks,
  OpenOptions,
  Store,
  StoredWorld,
  TranscriptHit,
  TranscriptLine,
  WorldInfo,
  WorldJournal,
} from './stores/port.ts'
export { sqliteStore, sqliteStoreDefaults, type SqliteStoreOptions } from './stores/sqlite.ts'
export { declare } from './tools/declare.ts'
export { contextReport } from './context/context-report.ts'
export { type ContextStats, contextStats, type ModelRow, type NotAutomatic } from './context/context-stats.ts'
export type { ObservedCall, WatchdogAlert, WatchdogSignal } from './context/watchdog-signal.ts'
export { defineTool, type ToolOptions } from './tools/define-tool.ts'
export { type FileTools, fileTools, type FileToolsOptions } from './tools/file-tools.ts'
export type { Tool, ToolContext, ToolOutput } from './tools/port.ts'
export type { Changes, Delta, Header, LogEdit } from './world/changes.ts'
export {
  type Component,
  type ComponentOptions,
  type DeepReadonly,
  defineComponent,
  defineLog,
  defineTag,
  type Entity,
  type Initial,
  type LogComponent,
  type Migrate,
  type PatchOf,
  type TagComponent,
  type ValueComponent,
} from './world/component.ts'
export { EntiaError, type EntiaErrorCode } from './world/entia-error.ts'
export { not, type NotTerm, type QueryTerm } from './world/entities.ts'
export type { Input, OwnEvents, OwnInput, OwnInputs, WorldEvent } from './world/input.ts'
export type { Step } from './world/journal.ts'
export type { Json, JsonObject } from './world/json.ts'
export { LogView } from './world/log-view.ts'
export type { HashOptions } from './world/snapshot.ts'
export { tick, type TickOptions, type TickResult } from './world/tick.ts'
export type { System, Wake } from './world/world.ts'
export { type RestoreOptions, World, type WorldOptions } from './world/world.ts'
