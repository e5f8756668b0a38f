import type { ToolContext } from '../../tools/port.ts'
import type { FileTimes } from './file-times.ts'

/** Keeps a text that a result is too short for. Gives the name of a handle that the model can read, if it has one. */
export type Keep = (text: string, context: ToolContext) => string | undefined | Promise<string | undefined>

/** What all built-in tools of a chat session share. */
export interface ToolSettings {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly fileTimes: FileTimes
  readonly keep: Keep
  /** The environment of child processes, without secrets. */
  readonly environment: () => NodeJS.ProcessEnv
  /** `host:port` of servers that `fetch_url` may reach at a private address. */
  readonly allowPrivate: readonly string[]
  /** Where `web_search` asks. */
  readonly tavily: { readonly baseUrl: string; readonly apiKey: () => string | undefined }
}
