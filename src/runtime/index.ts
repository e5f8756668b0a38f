/** What people touch: tools for the files, the shell and the repository of a user, and the policy of their calls. */

export { builtinTools, type BuiltinToolsOptions } from './tools/builtin-tools.ts'
export { FileBackups, type PutBackFile, type WrittenFile } from './tools/file-backups.ts'
export { FileTimes } from './tools/file-times.ts'
export { BackgroundShells, type ShellInfo } from './tools/background-shells.ts'
export { JsProcesses } from './tools/js/js-processes.ts'
export { inspectCall } from './policy/inspect-call.ts'
export { PlanMode, Policy } from '../../components/agent/policy.ts'
export { exitPlanModeDeclaration } from '../rules/policy/plan-mode.ts'
export { policyEffects, type PolicyEffectsOptions } from './policy/policy-effects.ts'
export { policy } from '../rules/policy/policy.ts'
export type { AllowedCalls, Channel, DataClass, Decision, Operation, PolicyConfig } from '../protocol/policy.ts'
export type { CallFacts, PolicyCall } from '../rules/policy/call.ts'

export type { ChatSession, TurnResult } from './chat/chat-session.ts'
export type { RewindOptions, RewindPlan, RewindResult } from './chat/rewind.ts'
export type { TurnOptions } from './chat/turn-options.ts'
export { newSession } from './chat/new-session.ts'
export { newSessionDefaults, type NewSessionOptions } from './chat/session-options.ts'
export {
  listSessions,
  openSession,
  type OpenOptions,
  removeSession,
  sessionSetup,
  sessionSetupDefaults,
  type SetupOptions,
  type StoredSessionsOptions,
} from './chat/session-setup.ts'
export type { StoredSession } from './chat/session-folder.ts'
export { chat, type TerminalChatOptions } from './chat/terminal-chat.ts'
export { addObserver, turn } from './chat/turn.ts'
export { observerProgress, type ProgressOptions, progressLine } from './chat/progress.ts'
export type { Observer } from './chat/observers.ts'
export type { ChatCall, ToolCallEvent } from './chat/tool-call-event.ts'
export type { ApprovalAnswer, ApprovalCall, ApproveCall } from './chat/approval.ts'
export type { ChatStats } from './chat/chat-stats.ts'
export type { HistoryMessage } from './chat/history.ts'
export type { ToolSource } from './chat/chat-tools.ts'

export {
  chooseProvider,
  type ChooseProviderOptions,
  type ChosenProvider,
  type ModelNames,
} from './models/choose-provider.ts'
export type { Environment, ProviderConfig } from './models/known-providers.ts'
export { providersOf } from './models/providers-of.ts'
export { defaultLocalModel, type LocalModelOptions } from './models/local-model.ts'

export { type Folders, folders } from './config/folders.ts'
export { projectContext, type ProjectContext, type ProjectContextOptions } from './config/project-context.ts'
export { type ReadConfig, type ReadConfigOptions, readRuntimeConfig } from './config/read-runtime-config.ts'
export { agentConfigOf, policyConfigOf, type RuntimeConfig } from './config/runtime-config.ts'

export {
  collectSubagent,
  type CollectSubagentOptions,
  killSubagent,
  type ListedSubagent,
  listSubagents,
  querySubagent,
  type QuerySubagentOptions,
  spawnSubagent,
  type SpawnSubagentOptions,
} from './subagents/chat-subagents.ts'
export { listWorkspace, pinResult, type WorkspaceItem } from './workspace/chat-workspace.ts'

export { installSkill, type InstallSkillOptions, removeSkill, type SkillTargetOptions } from './skills/install-skill.ts'
export { type ListedSkill, listSkills, type SkillScope, type SkillsOptions } from './skills/list-skills.ts'
export { testSkill, type SkillTestResult, type TestSkillOptions } from './skills/test-skill.ts'
