/** What people touch: tools for the files, the shell and the repository of a user, and the policy of their calls. */

export { builtinTools, type BuiltinToolsOptions } from './tools/builtin-tools.ts'
export { FileTimes } from './tools/file-times.ts'
export type { Keep } from './tools/settings.ts'
export { inspectCall } from './policy/inspect-call.ts'
export { PlanMode, Policy } from '../../components/agent/policy.ts'
export { exitPlanModeDeclaration } from '../rules/policy/plan-mode.ts'
export { policy } from '../rules/policy/policy.ts'
export type { Channel, DataClass, Decision, Operation, PolicyConfig } from '../protocol/policy.ts'
export type { CallFacts, PolicyCall } from '../rules/policy/call.ts'
