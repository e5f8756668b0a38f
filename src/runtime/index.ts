/** What people touch: tools for the files, the shell and the repository of a user, and the policy of their calls. */

export { builtinTools, type BuiltinToolsOptions } from './tools/builtin-tools.ts'
export { FileTimes } from './tools/file-times.ts'
export type { Keep } from './tools/settings.ts'
export { inspectCall } from './policy/inspect-call.ts'
export { policy } from '../rules/policy/policy.ts'
export type { Decision } from '../rules/policy/policy.ts'
export type { CallFacts, Channel, DataClass, Operation, PolicyCall, PolicyConfig } from '../rules/policy/call.ts'
