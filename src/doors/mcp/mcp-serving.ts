import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import type { McpServer } from '@modelcontextprotocol/server'
import manifest from '../../../package.json' with { type: 'json' }
import { realClock } from '../../engine/loop/clock.ts'
import { builtInProviders } from '../../models/providers.ts'
import { type Folders, folders } from '../../runtime/config/folders.ts'
import { readRuntimeConfig } from '../../runtime/config/read-runtime-config.ts'
import { policyConfigOf, type RuntimeConfig } from '../../runtime/config/runtime-config.ts'
import { providersOf } from '../../runtime/models/providers-of.ts'
import { builtinTools } from '../../runtime/tools/builtin-tools.ts'
import { JsProcesses } from '../../runtime/tools/js/js-processes.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { ServerApprovals } from './server-approval.ts'
import { ServerCaller } from './server-caller.ts'
import { ServerCalls } from './server-calls.ts'
import { type McpServerOptions, serverDefaults } from './server-options.ts'
import { type ServerSdk, serverSdk } from './server-sdk.ts'
import { offerTools } from './server-tools.ts'

/** What a server reads of files and environment. */
export interface ServerPlace {
  /** Absolute. */
  readonly cwd: string
  readonly home: string
  readonly env: NodeJS.ProcessEnv
  readonly folders: Folders
  readonly config: RuntimeConfig
}

/** One set of tools for all clients of a server, whatever they speak and however they are connected. */
export class McpServing {
  readonly sdk: ServerSdk
  readonly #options: McpServerOptions
  readonly #tools: readonly Tool[]
  readonly #js: JsProcesses
  readonly #approvals: ServerApprovals
  readonly calls: ServerCalls

  /** @param user the function that is called, for errors. @throws `missing-peer`, `config-invalid`, `invalid-argument` */
  static async setUp(user: string, options: McpServerOptions): Promise<McpServing> {
    const sdk = await serverSdk(user)
    return new McpServing(sdk, options, await placeOf(options), user)
  }

  private constructor(sdk: ServerSdk, options: McpServerOptions, place: ServerPlace, user: string) {
    this.sdk = sdk
    this.#options = options
    this.#js = new JsProcesses()
    this.#tools = toolsOf(options, place, { js: this.#js, user })
    this.#approvals = new ServerApprovals(sdk, options.verifyState)
    const { allow = [], maxCalls = serverDefaults.maxCalls, observers = [], policyFunction, runtime } = options
    const rules = policyConfigOf(place.config)
    const allowed = Object.fromEntries(allow.map((name) => [name, 'allow' as const]))
    this.calls = new ServerCalls({
      tools: this.#tools,
      policy: {
        channel: 'mcp',
        cwd: place.cwd,
        home: place.home,
        configFolder: place.folders.config,
        config: { ...rules, permissions: { ...rules.permissions, ...allowed } },
      },
      policyFunction,
      host: runtime,
      observers,
      maxCalls,
    })
  }

  /** @param idleMs forgets it after this time without a call. @default it is closed */
  caller(idleMs?: number): ServerCaller {
    const clock = this.#options.runtime?.clock ?? realClock
    return new ServerCaller(this.calls, idleMs === undefined ? undefined : { clock, ms: idleMs })
  }

  /** A server of the SDK for one connection, session or request. */
  serverFor(caller: ServerCaller): McpServer {
    const { configure, info = { name: 'entia', version: manifest.version }, instructions } = this.#options
    const server = new this.sdk.McpServer(info, {
      ...(instructions !== undefined && { instructions }),
      capabilities: { tools: { listChanged: true } },
      requestState: { verify: this.#approvals.verify },
    })
    offerTools(server, { approvals: this.#approvals, caller, calls: this.calls, tools: this.#tools })
    configure?.(server)
    return server
  }

  /** Stops all calls and ends child processes. */
  async close(): Promise<void> {
    await this.calls.close()
    await this.#js.close()
  }
}

async function placeOf({
  cwd: given = '.',
  env = process.env,
  onNotice = toStderr,
}: McpServerOptions): Promise<ServerPlace> {
  const cwd = resolve(given)
  // Empty variables count as unset.
  const home = env['HOME'] || env['USERPROFILE'] || userInfo().homedir
  const found = folders(env, cwd)
  const { config, notices } = await readRuntimeConfig({ cwd, folders: found, home })
  for (const notice of notices) onNotice(notice)
  return { cwd, home, env, folders: found, config }
}

export function toStderr(notice: string): void {
  process.stderr.write(`${notice}\n`)
}

/** The built-in tools that are named, and the program's own. @throws `invalid-argument` for two of one name */
function toolsOf(
  { runtime, tools: given }: McpServerOptions,
  { config, cwd, env, home }: ServerPlace,
  { js, user }: { readonly js: JsProcesses; readonly user: string },
): readonly Tool[] {
  const named = given ?? config.tools ?? ['all']
  const names = named.filter((tool) => typeof tool === 'string')
  const own = named.filter((tool) => typeof tool !== 'string')
  const providers = { ...builtInProviders(), ...providersOf(config, env), ...runtime?.models }
  const { fetch, passEnv } = config
  const builtIn =
    names.length === 0
      ? []
      : builtinTools({ cwd, home, env, tools: names, passEnv, allowPrivate: fetch?.allowPrivate, providers, js })
  // `chat` is answered by the systems of an agent's world, and the callers of a server are in another one.
  const all = [...builtIn.filter(({ declaration }) => declaration.world !== true), ...own]
  const seen = new Set<string>()
  for (const { declaration } of all) {
    if (!seen.has(declaration.name)) seen.add(declaration.name)
    else {
      const what = `${user}: two tools are named '${declaration.name}'; a client could not tell them apart.`
      throw new EntiaError('invalid-argument', what, { name: declaration.name })
    }
  }
  return all
}
