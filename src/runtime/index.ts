/** What people touch: tools for the files, the shell and the repository of a user. */

export { builtinTools, type BuiltinToolsOptions } from './tools/builtin-tools.ts'
export { FileTimes } from './tools/file-times.ts'
export type { Keep } from './tools/settings.ts'
