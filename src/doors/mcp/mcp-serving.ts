import type { McpServer } from '@modelcontextprotocol/server'
import manifest from 'entia/package.json' with { type: 'json' }
import { realClock } from '../../engine/loop/clock.ts'
import { builtInProviders } from '../../models/providers.ts'
import { ownPaths } from '../../runtime/config/folders.ts'
import { policyConfigOf } from '../../runtime/config/runtime-config.ts'
import { providersOf } from '../../runtime/models/providers-of.ts'
import { sessionExtensions, type SessionExtensions } from '../../runtime/skills/session-extensions.ts'
import { beginSandboxFor } from '../../runtime/sandbox/open-sandbox.ts'
import { builtinTools } from '../../runtime/tools/builtin-tools.ts'
import { JsProcesses } from '../../runtime/tools/js/js-processes.ts'
import type { Tool } from '../../tools/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { noticesTo } from '../../runtime/notices.ts'
import { exposedChat, subagentTools } from './exposed-agents.ts'
import { ServerAgents } from './server-agents.ts'
import { ServerApprovals } from './server-approval.ts'
import { ServerCaller } from './server-caller.ts'
import { ServerCalls } from './server-calls.ts'
import { type McpServerOptions, serverDefaults } from './server-options.ts'
import { placeOf, type ServerPlace } from './server-place.ts'
import { type ServerSdk, serverSdk } from './server-sdk.ts'
import { offerTools } from './server-tools.ts'

/** One set of tools for all clients of a server, whatever they speak and however they are connected. */
export class McpServing {
  readonly sdk: ServerSdk
  readonly #options: McpServerOptions
  readonly #instructions: string | undefined
  readonly #tools: readonly Tool[]
  readonly #js: JsProcesses
  readonly #sandbox: ServerPlace['sandbox']
  readonly #agents: ServerAgents
  readonly #approvals: ServerApprovals
  readonly calls: ServerCalls

  /** @param user the function that is called, for errors. @throws `missing-peer`, `config-invalid`, `invalid-argument` */
  static async setUp(user: string, options: McpServerOptions): Promise<McpServing> {
    const sdk = await serverSdk(user)
    const place = await placeOf(options)
    const more = await sessionExtensions(options.tools ?? place.config.tools ?? ['all'], place.config, place)
    const tell = noticesTo(options.onNotice)
    for (const notice of more.notices) tell(notice)
    return new McpServing(sdk, options, { ...place, more }, user)
  }

  private constructor(sdk: ServerSdk, options: McpServerOptions, place: ExtendedPlace, user: string) {
    this.sdk = sdk
    this.#options = options
    this.#instructions = options.instructions ?? place.more.text
    this.#js = new JsProcesses()
    this.#sandbox = place.sandbox
    this.#agents = new ServerAgents(options, place)
    const isExposing = options.exposeSubagents ?? place.config.subagents?.exposeOverMcp ?? false
    const exposed = isExposing ? subagentTools(this.#agents) : []
    this.#tools = withoutDoubles(user, [...toolsOf(options, place, this.#js, this.#agents), ...exposed])
    beginSandboxFor(place.sandbox, this.#tools)
    this.#approvals = new ServerApprovals(sdk, options.verifyState)
    const { allow = [], maxCalls = serverDefaults.maxCalls, observers = [], policyFunction, runtime } = options
    const rules = policyConfigOf(place.config)
    // Whoever exposes subagents lets clients call them; what these do is judged call by call.
    const unasked = exposed.map(({ declaration }) => declaration.name)
    this.calls = new ServerCalls({
      tools: this.#tools,
      policy: {
        channel: 'mcp',
        cwd: place.cwd,
        home: place.home,
        configFolder: place.folders.config,
        ownPaths: ownPaths(place.folders),
        config: { ...rules, permissions: { ...allowing(unasked), ...rules.permissions, ...allowing(allow) } },
      },
      policyFunction,
      sandboxPlace: place.sandboxPlace,
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
    const { configure, info = { name: 'entia', version: manifest.version } } = this.#options
    const instructions = this.#instructions
    const server = new this.sdk.McpServer(info, {
      ...(instructions !== undefined && { instructions }),
      capabilities: { tools: {} },
      requestState: { verify: this.#approvals.verify },
    })
    offerTools(server, { approvals: this.#approvals, caller, calls: this.calls, tools: this.#tools })
    configure?.(server)
    return server
  }

  /** Stops all calls and ends child processes. */
  async close(): Promise<void> {
    await this.calls.close()
    await this.#agents.close()
    await this.#js.close()
    await this.#sandbox?.close()
  }
}

function allowing(names: readonly string[]): Record<string, 'allow'> {
  return Object.fromEntries(names.map((name) => [name, 'allow' as const]))
}

/** Where a server is, and what skills and tool packages add to it. */
interface ExtendedPlace extends ServerPlace {
  readonly more: SessionExtensions
}

/** The built-in tools that are named, those of packages, and the program's own. */
function toolsOf(
  { runtime, tools: given }: McpServerOptions,
  { config, cwd, env, home, more, sandbox }: ExtendedPlace,
  js: JsProcesses,
  agents: ServerAgents,
): readonly Tool[] {
  const named = given ?? config.tools ?? ['all']
  const names = more.otherNames
  const own = named.filter((tool) => typeof tool !== 'string')
  const providers = { ...builtInProviders(), ...providersOf(config, env), ...runtime?.models }
  const { fetch, passEnv } = config
  const builtIn =
    names.length === 0
      ? []
      : builtinTools({
          cwd,
          home,
          env,
          tools: names,
          passEnv,
          allowPrivate: fetch?.allowPrivate,
          providers,
          js,
          sandbox,
        })
  // What the systems of an agent's world answer: the callers of a server are in another one. Subagents are offered on their own.
  const offered = builtIn.flatMap((tool) => {
    if (tool.declaration.name === 'chat') return exposedChat(agents)
    return tool.declaration.world === true ? [] : tool
  })
  return [...offered, ...more.tools, ...own]
}

/** @throws `invalid-argument` for two of one name */
function withoutDoubles(user: string, all: readonly Tool[]): readonly Tool[] {
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
