import type { ModelProvider } from '../../models/port.ts'
import type { ToolPreset } from '../../rules/delegation/declarations.ts'
import type { Sandbox } from '../sandbox/port.ts'
import type { FileBackups } from './file-backups.ts'
import type { FileTimes } from './file-times.ts'

/** What all built-in tools of a chat session share. */
export interface ToolSettings {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly fileTimes: FileTimes
  /** Keeps what files had in them before they are written. */
  readonly backups: FileBackups
  /** The environment of child processes, without secrets. */
  readonly environment: () => NodeJS.ProcessEnv
  /** The environment of processes of `run_js`: paths, locale and little else. */
  readonly bareEnvironment: () => NodeJS.ProcessEnv
  /** Where programs of a model run. Absent: there is none. */
  readonly sandbox: Sandbox | undefined
  /** `host:port` of servers that `fetch_url` may reach at a private address. */
  readonly allowPrivate: readonly string[]
  /** Tools of a subagent for which none are named. */
  readonly subagentPreset: ToolPreset
  /** Whose models `chat_models` lists, by name. */
  readonly providers: () => Readonly<Record<string, ModelProvider>>
  /** Where `web_search` asks. */
  readonly tavily: { readonly baseUrl: string; readonly apiKey: () => string | undefined }
}
