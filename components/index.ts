export { AgentTranscript, TranscriptDue, TranscriptWrite } from './context/agent-transcript.ts'
export { Ancestry, SessionEnd, SessionStopped, SlotReleased, SlotRequest, ToolCeiling } from './sessions/ancestry.ts'
export {
  AllowanceAwaited,
  Answered,
  Busy,
  LastStep,
  Paused,
  RatesAwaited,
  StepHeld,
  StepStopped,
  Summarizing,
  Terminal,
} from './agent/agent-tags.ts'
export { Approval, ApprovalOf, AwaitingApproval, Reported, Requested, ToolCall } from './agent/tool-call.ts'
export { Archival } from './context/archival.ts'
export { Archive, ArchiveJob, EndedTurn, LastWords, SummaryOf } from './context/archive.ts'
export { Blueprint, BlueprintOf, MadeFrom, SharedHistory } from './sessions/blueprint.ts'
export { Boundary, BoundaryMoved, SummaryTask } from './context/boundary.ts'
export { CeilingNotes, Ceilings, CostCeiling } from './money/ceilings.ts'
export {
  CheckpointAsked,
  CheckpointPending,
  CompactionAsked,
  CompactionPending,
  CompactionState,
  Overflowed,
  Unweighed,
} from './context/compaction-state.ts'
export { Context } from './context/context.ts'
export { Conversation, Edited, Unread } from './agent/conversation.ts'
export { Delegated, DelegationLimits } from './sessions/delegation-limits.ts'
export { Due, Effect, Outcome, OwnedBy, Pending, Running } from './effects/effect.ts'
export {
  ApprovalsDenied,
  AskedAgain,
  DraftOf,
  HolderDraft,
  HolderOf,
  Seed,
  Settling,
  SharedBlock,
  Unsettled,
} from './context/holder.ts'
export { Handle, HandleCount, HandleText, KeptBy, Workspace } from './agent/handle.ts'
export { HostFacts, SeenInputs } from './agent/host-facts.ts'
export { InstalledTools, Permissions, ToolRegistry } from './agent/tool-registry.ts'
export { LastCall, Rewrite, RewriteTotal } from './context/last-call.ts'
export { LastTurn, Limits, Turn } from './agent/turn.ts'
export { Ledger } from './money/ledger.ts'
export { Llm, OutputSchema, TurnOutputSchema } from './agent/llm.ts'
export { Allowance, AllowanceCall, Metered, OnAllowance } from './money/metered.ts'
export { ModelCall, SideCall } from './effects/model-call.ts'
export { ModelRates, RatesCall } from './money/model-rates.ts'
export { AwaitingJudgement, Inspection, Judgement, PlanMode, Policy, PolicyState } from './agent/policy.ts'
export { Prefix } from './agent/prefix.ts'
export { Rewound } from './agent/rewound.ts'
export { RenderedPrompt, SystemPrompt } from './agent/system-prompt.ts'
export { ActiveFor, GrantAwaited, ReportedUsage, SessionTexts, SubagentSession } from './sessions/subagent-session.ts'
export {
  Answering,
  AwaitingReply,
  AwaitingSession,
  Collected,
  LastQuestion,
  SessionQuery,
} from './sessions/session-call.ts'
export { Skills } from './agent/skills.ts'
export {
  EndedInWait,
  Notified,
  SubagentNotification,
  SubagentWait,
  UnreadBy,
  WaitDeadline,
} from './sessions/subagent-wait.ts'
export { SubagentRegistry } from './sessions/subagent-registry.ts'
export { Subtask, SubtaskAccount, SubtaskCount } from './sessions/subtask.ts'
export { TokenFactors, UncountedCalls } from './money/token-factors.ts'
export { Retrieval, WorkspaceEntry, WorkspaceState } from './agent/workspace-entry.ts'
export { Usage, UsageBeside } from './money/usage.ts'
export { Cautioned, WatchdogLatch, WatchdogState } from './agent/watchdog-state.ts'
