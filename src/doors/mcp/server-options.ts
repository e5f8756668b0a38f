import type { McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { HostOptions } from '../../engine/effects/host-options.ts'
import { sessionShapes } from '../../runtime/chat/session-options.ts'
import type { Observer } from '../../runtime/chat/observers.ts'
import type { PolicyEffectsOptions } from '../../runtime/policy/policy-effects.ts'
import type { Tool } from '../../tools/port.ts'
import {
  callback,
  count,
  countFromZero,
  environment,
  filledText,
  flag,
  listOf,
  type Shape,
  type ShapesOf,
  table,
  text,
} from '../../base/option-shapes.ts'

/** What an MCP server of Entia offers, and by which rules its tools run. */
export interface McpServerOptions {
  /** The working folder of its tools; no call reaches out of it. @default that of the process */
  readonly cwd?: string | undefined
  /** Names of built-in tools and of their categories, and tools of your own. @default the configuration's, else ['all'] */
  readonly tools?: readonly (string | Tool)[] | undefined
  /** Names of tools that run without being asked about, as `permissions: { tool: 'allow' }` of a configuration. @default [] */
  readonly allow?: readonly string[] | undefined
  /** Offers subagents as tools. @default the configuration's `subagents.exposeOverMcp`, else false */
  readonly exposeSubagents?: boolean | undefined
  /** Of `chat` and of subagents. @default the configuration's, else 'anthropic' */
  readonly provider?: string | undefined
  /** Of the provider; or `provider/model`. @default the configuration's, else the provider's default model */
  readonly model?: string | undefined
  /** What it calls itself. @default { name: 'entia', version: that of the package } */
  readonly info?: { readonly name: string; readonly version: string; readonly title?: string } | undefined
  /** For models: how to use its tools. @default none */
  readonly instructions?: string | undefined
  /**
   * Adds what is not a tool of Entia, such as prompts and resources, to the SDK's server: one for each connection or session,
   * and for each request of a protocol without sessions. What it adds is not judged by the policy. @default nothing
   */
  readonly configure?: ((server: McpServer) => void) | undefined
  /**
   * Reads a `requestState` that a tool, prompt or resource of `configure` has sent, such as with the SDK's
   * `createRequestStateCodec`; a throw refuses the request. Without it such states come back unchecked. @default none
   */
  readonly verifyState?: ((state: string, context: ServerContext) => unknown) | undefined
  /** Get each call once it has its result. @default [] */
  readonly observers?: readonly Observer[] | undefined
  /** Answers instead of the policy's table; `undefined`: the table decides. @default none */
  readonly policyFunction?: PolicyEffectsOptions['policy']
  /** Further options of the Host of its tools and agents: models, prices, clock … */
  readonly runtime?: Omit<HostOptions, 'approve' | 'tools'> | undefined
  /** Calls at work at a time. @default 100 */
  readonly maxCalls?: number | undefined
  /** Where folders and keys are looked up. @default the environment of the process */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Gets what a user should know, such as what a project's configuration says and does not count. @default a line on stderr each */
  readonly onNotice?: ((notice: string) => unknown) | undefined
}

/** Who may reach a server by HTTP, and how much of it. */
export interface HttpServerOptions {
  /** Host names that requests may have in `Host` and `Origin`, without ports. @default localhost, 127.0.0.1 and [::1] */
  readonly hosts?: readonly string[] | undefined
  /** Sessions of clients of 2025-11-25 and older at a time. Past it the one that was idle longest is closed. @default 100 */
  readonly maxSessions?: number | undefined
  /** How long such a session is kept without a request, in milliseconds. @default 1800000 */
  readonly sessionIdleMs?: number | undefined
  /** Longest body of a request. @default 4194304 */
  readonly maxBodyBytes?: number | undefined
}

/** Options of `mcpHandler`. */
export interface McpHandlerOptions extends McpServerOptions, HttpServerOptions {
  /** What clients have to send as a bearer token; `false`: the program checks itself who asks. */
  readonly token: string | false
}

/** Options of `serve`. */
export interface ServeOptions extends McpServerOptions, HttpServerOptions {
  /** Serves HTTP at `/mcp`; 0 takes a free one. @default standard input and output */
  readonly port?: number | undefined
  /** Where it listens. @default '127.0.0.1' */
  readonly host?: string | undefined
  /** What clients have to send as a bearer token. @default ENTIA_MCP_TOKEN, else one that is made and kept in the state folder */
  readonly token?: string | undefined
  /** Requests that are answered at a time. @default 200 */
  readonly maxRequests?: number | undefined
}

/** What an MCP server does where its options do not say. */
export const serverDefaults = Object.freeze({
  host: '127.0.0.1',
  maxBodyBytes: 4 * 1024 * 1024,
  maxCalls: 100,
  maxRequests: 200,
  maxSessions: 100,
  sessionIdleMs: 30 * 60_000,
  /** In US dollars, for all that the clients of a process spend. */
  spendCapUsd: 5,
} as const)

const commonShapes: ShapesOf<McpServerOptions> = {
  allow: listOf(filledText),
  configure: callback,
  cwd: filledText,
  env: environment,
  exposeSubagents: flag,
  info: {
    wanted: 'an object { name, version }',
    fits: (value) =>
      table.fits(value) && ['name', 'version'].every((key) => filledText.fits((value as object)[key as never])),
  },
  instructions: text,
  maxCalls: count,
  model: sessionShapes.model,
  observers: listOf(callback),
  onNotice: callback,
  policyFunction: callback,
  provider: sessionShapes.provider,
  runtime: table,
  verifyState: callback,
  tools: listOf({ wanted: 'a name or a tool', fits: (value) => text.fits(value) || table.fits(value) }),
}

const httpShapes: ShapesOf<HttpServerOptions> = {
  hosts: listOf(filledText),
  maxBodyBytes: count,
  maxSessions: count,
  sessionIdleMs: count,
}

/** What a header can carry. */
const token: Shape = { wanted: 'a text of at least 16 printable ASCII characters, without blanks', fits: isToken }

export function isToken(value: unknown): boolean {
  return typeof value === 'string' && /^[\x21-\x7e]{16,}$/.test(value)
}

export const handlerShapes: ShapesOf<McpHandlerOptions> = {
  ...commonShapes,
  ...httpShapes,
  token: { wanted: `${token.wanted}, or false`, fits: (value) => value === false || isToken(value) },
}

export const serveShapes: ShapesOf<ServeOptions> = {
  ...commonShapes,
  ...httpShapes,
  host: filledText,
  maxRequests: count,
  port: { wanted: 'a port, 0 to 65535', fits: (value) => countFromZero.fits(value) && (value as number) <= 65_535 },
  token,
}
