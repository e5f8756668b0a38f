import { resolve as resolvePath } from 'node:path'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { declarationHash } from '../../rules/delegation/hashes.ts'
import type { Tool } from '../../tools/port.ts'
import type { ToolFeed } from '../chat/tool-feed.ts'
import { inHome } from '../config/folders.ts'
import type { RuntimeConfig } from '../config/runtime-config.ts'
import { type ConnectionOptions, type ConnectOptions, McpConnection, type McpTarget } from './mcp-connection.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { deferredAbove, offeredTools } from './mcp-tools.ts'
import type { Offer, OfferedPrompt } from './offer.ts'
import { type ServerRecord, ServerRecords } from './server-records.ts'

/** Where a chat session's servers come from. */
export interface SessionServersOptions extends Pick<ConnectOptions, 'elicit' | 'passEnv'> {
  /** Of the configuration. */
  readonly servers: NonNullable<NonNullable<RuntimeConfig['mcp']>['servers']>
  /** @default 40 */
  readonly maxDeclared?: number | undefined
  /** Absolute. */
  readonly cwd: string
  /** The cache folder, absolute. */
  readonly cache: string
  /** Where servers that are started here run. Absent: with the rights of this process. */
  readonly sandbox?: Sandbox | undefined
  /** What `~` stands for. @default the user's home folder */
  readonly home?: string | undefined
  /** Signs in to a server on the network. */
  readonly auth?: ((name: string, url: string) => ConnectOptions['auth']) | undefined
  readonly onNotice: (notice: string) => void
  /** How long the first turn waits for servers that were never connected, in milliseconds of real time. @default 10,000 */
  readonly patienceMs?: number | undefined
}

/** A prompt that a server offers as a command: `/server:prompt`. */
export interface ServerPrompt extends OfferedPrompt {
  /** `server:prompt`. */
  readonly command: string
  /** Its text. @param words its arguments, in order; the last one takes the rest */
  readonly text: (words: readonly string[]) => Promise<string>
}

interface Server {
  readonly name: string
  readonly target: McpTarget
  readonly trusted: boolean
  readonly connection: McpConnection
  record: ServerRecord | undefined
  /** It was not there the last time. */
  readonly wasMissing: boolean
  tools: readonly Tool[]
}

/** At most this many servers are connected for the first time at once. */
const maxAtOnce = 4
const patienceMs = 10_000

/**
 * The MCP servers of a configuration, for a chat session. What they offer is known from their last connection, so none is started
 * before its first call; one that was never connected is, in the background.
 */
export class SessionServers implements ToolFeed {
  readonly #options: SessionServersOptions
  readonly #records: ServerRecords
  readonly #servers: readonly Server[]
  #tools = new Map<string, Tool>()
  #all: readonly Tool[] = []
  #met: Promise<unknown> = Promise.resolve()
  #update: (() => void) | undefined
  readonly #writes: Promise<void>[] = []
  #isClosed = false

  private constructor(options: SessionServersOptions, records: ServerRecords, servers: readonly Server[]) {
    this.#options = options
    this.#records = records
    this.#servers = servers
    for (const server of servers) server.connection.onChange((offer) => this.#take(server, offer))
    this.#combine()
  }

  /** Reads what is known of the servers, and begins to connect those of which nothing is. */
  static async open(options: SessionServersOptions): Promise<SessionServers> {
    const { cache, cwd, elicit, home, passEnv, sandbox, servers: configured } = options
    const records = new ServerRecords(cache)
    const servers = await Promise.all(
      Object.entries(configured).flatMap(
        ([name, { command, roots, trusted = false, url, ...rest }]): Promise<Server>[] => {
          const target = targetOf({ command, url, ...rest })
          if (target === undefined) {
            options.onNotice(`The MCP server '${name}' has neither command nor url, and is left out.`)
            return []
          }
          const auth = 'url' in target ? options.auth?.(name, target.url) : undefined
          return [
            records.read(name, target).then((record): Server => {
              const wasMissing = record?.isMissing === true
              const known = wasMissing ? undefined : record
              const confine = confining(rest, sandbox, { cwd, home })
              const connection = new McpConnection(
                target,
                { name, cwd, elicit, passEnv, auth, confine, roots },
                known?.offer,
              )
              return { name, target, trusted, connection, record: known, wasMissing, tools: [] }
            }),
          ]
        },
      ),
    )
    const made = new SessionServers(options, records, servers)
    const unknown = servers.filter(({ record }) => record === undefined)
    made.#met = made.#meet(unknown.filter(({ wasMissing }) => !wasMissing))
    void made.#met.then(() => made.#meet(unknown.filter(({ wasMissing }) => wasMissing)))
    return made
  }

  /** Tools that have changed since a permission may have been given for them: an 'allow' of the configuration does not count. */
  get changed(): readonly string[] {
    return this.#servers.flatMap(({ record }) => record?.changed ?? [])
  }

  get declarations(): readonly ToolDeclaration[] {
    return this.#all.map(({ declaration }) => declaration)
  }

  get prompts(): readonly ServerPrompt[] {
    return this.#servers.flatMap(({ connection, name, record }) =>
      (record?.offer.prompts ?? []).map((prompt): ServerPrompt => {
        const text = async (words: readonly string[]): Promise<string> =>
          connection.prompt(prompt.name, valuesOf(prompt, words))
        return { ...prompt, command: `${name}:${prompt.name}`, text }
      }),
    )
  }

  tool(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  /** Waits for servers that were never connected, and then says what there is, whenever it changes. */
  async begin(update: () => void): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, this.#options.patienceMs ?? patienceMs)
    await Promise.race([this.#met, late])
    clearTimeout(timer)
    for (const server of this.#servers) if (server.record === undefined) this.#noteMissing(server)
    this.#update = update
    update()
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#update = undefined
    await Promise.all(this.#servers.map(({ connection }) => connection.close()))
    await Promise.all(this.#writes)
  }

  /** It is not waited for again. */
  #noteMissing({ name, target }: Server): void {
    const offer = { title: '', tools: [], hasResources: false, prompts: [] }
    this.#writes.push(this.#records.write(name, target, { offer, names: {}, changed: [], isMissing: true }))
  }

  /** Connects servers that were never connected, a few at a time. */
  async #meet(servers: readonly Server[]): Promise<void> {
    const unknown = servers.values()
    const next = async (): Promise<void> => {
      for (const server of unknown) {
        if (this.#isClosed) return
        try {
          await server.connection.connect()
        } catch (error) {
          if (!this.#isClosed) this.#options.onNotice((error as Error).message)
        }
      }
    }
    await Promise.all(Array.from({ length: maxAtOnce }, next))
  }

  #take(server: Server, offer: Offer): void {
    const before = new Map(server.tools.map(({ declaration }) => [declaration.name, declaration]))
    const { changed: earlier = [], names = {} } = server.record ?? {}
    server.record = { offer, names, changed: earlier }
    this.#combine()
    const changed = server.tools.flatMap(({ declaration: now }) => {
      const old = before.get(now.name)
      return old !== undefined && declarationHash(old) !== declarationHash(now) ? [now.name] : []
    })
    if (changed.length > 0) {
      const what = `The MCP server '${server.name}' describes ${changed.join(', ')} otherwise than before`
      this.#options.onNotice(`${what}: permissions for it do not count until you type: entia mcp accept ${server.name}`)
    }
    const { names: given } = server.record
    server.record = { offer, names: given, changed: [...new Set([...earlier, ...changed])] }
    this.#writes.push(this.#records.write(server.name, server.target, server.record))
    this.#update?.()
  }

  #combine(): void {
    const taken = new Set<string>()
    for (const server of this.#servers) {
      const { connection, record, trusted } = server
      if (record === undefined) continue
      const before = new Map(Object.entries(record.names))
      const { names, tools } = offeredTools(connection, record.offer, { trusted, taken, before })
      server.tools = tools
      server.record = { ...record, names: Object.fromEntries(names) }
    }
    const tools = this.#servers.flatMap((server) => server.tools)
    this.#all = deferredAbove(tools, this.#options.maxDeclared)
    this.#tools = new Map(this.#all.map((tool) => [tool.declaration.name, tool]))
  }
}

type ServerReach = Pick<SessionServersOptions['servers'][string], 'allowedDomains' | 'sandbox' | 'writePaths'>

/** Puts a server into the sandbox, if it is to run in there. */
export function confining(
  { allowedDomains, sandbox: isInside = true, writePaths = [] }: ServerReach,
  sandbox: Sandbox | undefined,
  { cwd, home }: { readonly cwd: string; readonly home?: string | undefined },
): ConnectionOptions['confine'] {
  if (sandbox === undefined || !isInside) return undefined
  const paths = writePaths.map((path) => resolvePath(cwd, inHome(path, home)))
  return (program) => sandbox.confined(program, { allowedDomains, writePaths: paths })
}

/** @returns `undefined` for one with neither program nor address */
export function targetOf({
  args,
  command,
  env,
  headers,
  url,
}: {
  readonly args?: readonly string[] | undefined
  readonly command?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly url?: string | undefined
}): McpTarget | undefined {
  if (url !== undefined) return { url, ...(headers !== undefined && { headers }) }
  if (command === undefined) return undefined
  return { command, ...(args !== undefined && { args }), ...(env !== undefined && { env }) }
}

/** Words by the names of a prompt's arguments; `name=value` names its own. */
function valuesOf(prompt: OfferedPrompt, words: readonly string[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {}
  const names = prompt.arguments.map(({ name }) => name)
  const rest: string[] = []
  for (const word of words) {
    const name = /^([^=\s]+)=/.exec(word)?.[1]
    if (name !== undefined && names.includes(name)) values[name] = word.slice(name.length + 1)
    else rest.push(word)
  }
  const open = names.filter((name) => !(name in values))
  open.forEach((name, index) => {
    const value = index === open.length - 1 ? rest.slice(index).join(' ') : rest[index]
    if (value !== undefined && value !== '') values[name] = value
  })
  return values
}
