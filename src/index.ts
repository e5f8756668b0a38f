/**
 * What most programs need. The other doors hold the rest: `entia/context`, `entia/models`, `entia/stores`,
 * `entia/components`, `entia/systems`, `entia/runtime`, `entia/sim` and `entia/vitest`.
 */

// Make a world.
export { standardSystems, type StandardSystemsOptions } from '../systems/index.ts'
export { type RestoreOptions, World, type WorldOptions } from './world/world.ts'
export type { HashOptions } from './world/snapshot.ts'

// Put agents into it, and read what they say.
export { agent, type AgentOptions, assistant, lastText, outputSchema, user } from './runtime/agents/agent.ts'
export { textOf } from './rules/projection/text-of.ts'
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
} from './protocol/message.ts'

// Components of an agent that programs read and change most. All of them: `entia/components`.
export { Conversation } from '../components/agent/conversation.ts'
export { LastTurn, Limits } from '../components/agent/turn.ts'
export type { Failure, FailureKind, RetryPolicy, Stop } from './protocol/failure.ts'
export { Llm } from '../components/agent/llm.ts'
export { Paused } from '../components/agent/agent-tags.ts'
export { Permissions } from '../components/agent/tool-registry.ts'
export { SystemPrompt } from '../components/agent/system-prompt.ts'
export type { SessionUsage, TokenUsage } from './protocol/usage.ts'
export { Usage } from '../components/money/usage.ts'

// Give them tools.
export { declare } from './tools/declare.ts'
export { defineTool, type ToolOptions } from './tools/define-tool.ts'
export type { StandardSchema } from './rules/text/standard-schema.ts'
export { type FileTools, fileTools, type FileToolsOptions } from './tools/file-tools.ts'
export type { FileFact } from './protocol/file-fact.ts'
export type { HandleStore, KnownHandle, NamedValue, Tool, ToolContext, ToolOutput } from './tools/port.ts'
export type { RestartClass, ToolDeclaration } from './protocol/tool-declaration.ts'

// Models that are scripted. Real ones are named by agents, or made with options: `entia/models`.
export {
  fail,
  scripted,
  type ScriptedBehaviour,
  type ScriptedCall,
  type ScriptedOptions,
  type ScriptedReply,
} from './models/scripted.ts'
export type {
  ModelContext,
  ModelDelta,
  ModelOptions,
  ModelOutcome,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from './models/port.ts'
export type { Price } from './rules/money/price-overrides.ts'

// Talk to an agent: one promise a turn, and its parts as they come.
export { ask, type Asking, type AskOptions } from './runtime/ask/ask.ts'
export type { Answer } from './runtime/ask/answer.ts'
export type { AskPart } from './runtime/ask/part.ts'

// Make an agent and speak to it.
export { createAgent, type CreateAgentOptions, type OwnAgent } from './runtime/agents/create-agent.ts'
export type { AgentState, WaitsFor } from './runtime/agents/agent-state.ts'

// Many worlds in one store, opened when they are spoken to.
export type { OpenApproval } from './engine/children/open-approvals.ts'
export type { Agent } from './runtime/agents/agent-handle.ts'
export { worlds, type Worlds, type WorldsOptions } from './runtime/agents/worlds.ts'

// Run it, listen to it, and replay what was recorded.
export { run } from './engine/loop/run.ts'
export { Runner } from './engine/loop/runner.ts'
export type { OpenRunnerOptions, RunnerOptions, RunnerStats } from './engine/loop/runner-options.ts'
export { Host } from './engine/effects/host.ts'
export { hostDefaults, type HostOptions, type ToolChangePolicy } from './engine/effects/host-options.ts'
export { type Clock, realClock } from './engine/loop/clock.ts'
export { VirtualClock, type VirtualClockOptions } from './engine/loop/virtual-clock.ts'
export { type Recording, recordingOf, type SavedWorld } from './engine/recording/recording.ts'
export {
  type Difference,
  replay,
  type ReplayedWorld,
  type ReplayOptions,
  type ReplayResult,
} from './engine/recording/replay.ts'
export type { ApprovalQuestion, Approve } from './engine/effects/approval-effect.ts'
export type {
  EventPlace,
  EventsByType,
  EventTime,
  RunnerEvent,
  RunnerEvents,
  StreamEvent,
  TickEvent,
} from './engine/loop/events.ts'
export type { TextSoFar } from './engine/loop/texts-so-far.ts'
export type { StandardEvent } from './protocol/event.ts'
export type { StandardInput } from './protocol/input.ts'

// Keep it: in memory or in SQLite. The port for a store of your own: `entia/stores`.
export { memoryStore } from './stores/memory.ts'
export { sqliteStore, type SqliteStoreOptions } from './stores/sqlite.ts'
export type { Store } from './stores/port.ts'

// Delegate to subagents, whose sessions run as worlds of their own.
export { type SubagentConfig, SubagentRegistry } from '../components/sessions/subagent-registry.ts'
export type { SessionStatus } from './protocol/delegation.ts'
export type { Skill } from '../components/agent/skills.ts'
export type { SessionInfo } from './engine/children/session-info.ts'
export { type SessionRef, Subagents, type WaitOptions } from './engine/children/subagents.ts'
export type { Transcript } from './engine/children/child-run.ts'
export type { LaunchOptions, WorkerOptions } from './engine/loop/requests.ts'
export { SessionPool, type SessionPoolOptions, sessionPoolDefaults } from './engine/children/pool.ts'
export type { SkillDefinition } from './engine/children/port.ts'

// Define components, systems and effects of your own.
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
export { not, type NotTerm, type QueryTerm } from './world/entities.ts'
export { LogView } from './world/log-view.ts'
export type { System } from './world/world.ts'
export type { Wake } from './world/wake-plan.ts'
export type { Input, OwnEvents, OwnInput, OwnInputs, WorldEvent } from './world/input.ts'
export type { EffectContext, EffectKind } from './engine/effects/effect-kind.ts'
export type { Changes, Delta, Header, LogEdit } from './world/changes.ts'
export type { Step } from './world/journal.ts'
export type { Json, JsonObject } from './base/json.ts'

// Tell what was misused: every error that is thrown has a closed `code`.
export { EntiaError, type EntiaErrorCode } from './base/entia-error.ts'

// Names that moved to another door. They stay here for one version.
export * from './deprecated.ts'
