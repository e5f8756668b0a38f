import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { isSearch, withSearch } from '../../rules/projection/deferred-tools.ts'
import { checkJson } from '../../rules/text/schema-issues.ts'
import type { Tool, ToolContext } from '../../tools/port.ts'
import { errorOutput, keptOutput, toolOutput } from '../../tools/tool-output.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { JsonObject } from '../../base/json.ts'
import {
  checkOptions,
  count,
  countFromZero,
  environment,
  callback,
  filledText,
  flag,
  listOf,
  objectWith,
  refuseMisfit,
  table,
  text,
} from '../../base/option-shapes.ts'
import type { ToolSource } from '../chat/chat-tools.ts'
import { type ConnectOptions, McpConnection, type McpTarget } from './mcp-connection.ts'
import type { Offer } from './offer.ts'
import { toolDeclaration } from './tool-declarations.ts'
import { toolNames } from './tool-names.ts'

/** Options of `mcpTools` and `mcpToolSource`. */
export interface McpToolsOptions {
  /**
   * What the server says of its tools counts: one that only reads is a read that may run again, one that may be called twice
   * runs again after a restart. Otherwise a policy asks about each, and none runs twice. @default false
   */
  readonly trusted?: boolean | undefined
  /** Where there are more tools, the model is not shown them, but finds them by a search. @default 40 */
  readonly maxDeclared?: number | undefined
}

/** What `mcpTools` does where its options say nothing. */
export const mcpDefaults = Object.freeze({ maxDeclared: 40 } as const)

/**
 * Connects to an MCP server: a program that is started here and spoken with over its stdin and stdout, or one on the network, over
 * streamable HTTP. Both generations of the protocol are spoken. Close the connection at the end, which ends the program.
 *
 * @throws by its promise: `invalid-argument`, `missing-peer`; an Error that says why the server cannot be reached
 */
export async function connectMcp(target: McpTarget, options: ConnectOptions = {}): Promise<McpConnection> {
  checkTarget(target)
  checkOptions('connectMcp', options, connectShapes)
  const connection = new McpConnection(target, options)
  await connection.connect()
  return connection
}

/**
 * The tools of connected servers, for a Host and its agents: `new Host({ tools })` and `agent({ tools })`. They are named
 * `<server>__<tool>`. Where there are more than `maxDeclared`, agents get two tools, to find and to call them.
 *
 * @throws `invalid-argument`
 */
export function mcpTools(
  connections: McpConnection | readonly McpConnection[],
  options: McpToolsOptions = {},
): readonly Tool[] {
  const { tools } = sourceOf('mcpTools', connections, options)
  return tools
}

/**
 * The tools of connected servers for one turn of a chat session: `turn(prompt, session, { toolSource })`.
 *
 * @throws `invalid-argument`
 */
export function mcpToolSource(
  connections: McpConnection | readonly McpConnection[],
  options: McpToolsOptions = {},
): ToolSource {
  const { runs, tools } = sourceOf('mcpToolSource', connections, options)
  return {
    declarations: tools.map(({ declaration }) => declaration),
    async call(name, input, context) {
      const run = runs.get(name)
      return run === undefined ? errorOutput(`there is no tool named ${name}.`) : run(input as JsonObject, context)
    },
  }
}

function sourceOf(where: string, given: McpConnection | readonly McpConnection[], options: McpToolsOptions) {
  const connections = Array.isArray(given) ? (given as readonly McpConnection[]) : [given as McpConnection]
  refuseMisfit(where, 'connections', connections, listOf(connectionShape))
  checkOptions(where, options, { trusted: flag, maxDeclared: countFromZero })
  const taken = new Set<string>()
  const made = connections.flatMap((connection) => {
    const { offer } = connection
    if (offer !== undefined) return offeredTools(connection, offer, { trusted: options.trusted, taken }).tools
    const what = `${where}: the connection to '${connection.name}' was never made. Await connectMcp.`
    throw new EntiaError('invalid-argument', what)
  })
  return {
    runs: new Map(made.map(({ declaration, run }) => [declaration.name, run])),
    tools: withSearchTools(deferredAbove(made, options.maxDeclared)),
  }
}

/** Tools as a model gets them: all of them, or where they are too many none of them, but a search. */
export function deferredAbove(tools: readonly Tool[], maxDeclared: number = mcpDefaults.maxDeclared): readonly Tool[] {
  if (tools.length <= maxDeclared) return tools
  return tools.map(({ call, declaration }): Tool => ({ declaration: { ...declaration, deferred: true }, call }))
}

function withSearchTools(tools: readonly Tool[]): readonly Tool[] {
  const search = withSearch(tools.map(({ declaration }) => declaration)).filter(isSearch)
  const ofWorld = search.map((declaration): Tool => {
    return { declaration, call: () => errorOutput(`${declaration.name} runs in the World.`) }
  })
  return [...ofWorld, ...tools]
}

/** A tool whose result can be had as it is, for those who cap it themselves. */
interface McpTool extends Tool {
  readonly run: (
    input: JsonObject,
    context: Pick<ToolContext, 'signal'> & Partial<Pick<ToolContext, 'progress'>>,
  ) => Promise<unknown>
}

/** The tools that a server offers. */
interface OfferedTools {
  readonly tools: readonly McpTool[]
  /** What they are called, by their names at the server. */
  readonly names: ReadonlyMap<string, string>
}

/** How the tools of a server are made. */
interface OfferedToolsOptions {
  readonly trusted?: boolean | undefined
  /** Names that other tools have; those given are added. */
  readonly taken?: Set<string>
  /** Names that tools had, by their names at the server. */
  readonly before?: ReadonlyMap<string, string>
}

/** Handlers for what a server offers. */
export function offeredTools(
  connection: McpConnection,
  offer: Offer,
  { before, taken = new Set(), trusted = false }: OfferedToolsOptions,
): OfferedTools {
  const server = connection.name
  const listed = [...new Map(offer.tools.map((tool) => [tool.name, tool])).values()]
  const ownNames = listed.map(({ name }) => name)
  const names = toolNames(server, ownNames, taken, before)
  const tools = listed.map((each): McpTool => {
    const declaration = toolDeclaration(server, names.get(each.name) as string, each, trusted)
    return toolOf(declaration, async (input, context) => connection.call(each.name, input, context))
  })
  return { names, tools: offer.hasResources ? [...tools, ...resourceTools(connection, trusted, taken)] : tools }
}

/** Resources are read by tools of their own. */
function resourceTools(connection: McpConnection, trusted: boolean, taken: Set<string>): readonly McpTool[] {
  const server = connection.name
  const names = toolNames(server, ['list_resources', 'read_resource'], taken)
  const made = (name: string, what: string, properties: JsonObject, run: McpTool['run']): McpTool => {
    const listed = { name, inputSchema: { type: 'object', properties, required: Object.keys(properties) } }
    const hints = { readOnly: true }
    const declaration = toolDeclaration(server, names.get(name) as string, { ...listed, hints }, trusted)
    return toolOf({ ...declaration, description: what }, run)
  }
  return [
    made('list_resources', `Lists the resources of the MCP server '${server}'.`, {}, async (_, { signal }) =>
      connection.listResources(signal),
    ),
    made(
      'read_resource',
      `Reads a resource of the MCP server '${server}'.`,
      { uri: { type: 'string', description: `Its address, as ${names.get('list_resources')} shows it.` } },
      async ({ uri }, { signal }) => connection.readResource(typeof uri === 'string' ? uri : '', signal),
    ),
  ]
}

function toolOf(declaration: ToolDeclaration, run: McpTool['run']): McpTool {
  return Object.freeze<McpTool>({
    declaration,
    run,
    async call(input, context) {
      const wrong = checkJson(declaration.inputSchema, input)
      if (wrong !== undefined) return errorOutput(`Invalid arguments for '${declaration.name}': ${wrong}`)
      const result = await run(input as JsonObject, context)
      return context.handles === undefined ? toolOutput(result) : keptOutput(result, context.handles)
    },
  })
}

/** @throws `invalid-argument` */
function checkTarget(target: McpTarget): void {
  refuseMisfit('connectMcp', 'target', target, table)
  if ('url' in target) {
    const isHttp = { wanted: 'an address that begins with http:// or https://', fits: isHttpAddress }
    checkOptions('connectMcp', target, { url: isHttp, headers: environment })
    return refuseMisfit('connectMcp', 'url', target.url, isHttp)
  }
  checkOptions('connectMcp', target, { command: filledText, args: listOf(text), env: environment, cwd: filledText })
  refuseMisfit('connectMcp', 'command', target.command, { ...filledText, wanted: 'a program, or give url' })
}

function isHttpAddress(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

const connectionShape = {
  wanted: 'a connection; make one with connectMcp',
  fits: (value: unknown) => value instanceof McpConnection,
}

const connectShapes = {
  name: filledText,
  cwd: filledText,
  roots: listOf(filledText),
  elicit: callback,
  connectTimeoutMs: count,
  maxMessageBytes: count,
  passEnv: listOf(text),
  auth: objectWith('an OAuth provider of the MCP SDK', 'tokens', 'saveTokens'),
}
