import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { checkJson } from '../../rules/text/schema-issues.ts'
import type { Tool, ToolContext } from '../../tools/port.ts'
import { errorOutput, keptOutput, toolOutput } from '../../tools/tool-output.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { JsonObject } from '../../world/json.ts'
import {
  checkOptions,
  count,
  environment,
  callback,
  filledText,
  flag,
  listOf,
  objectWith,
  refuseMisfit,
  table,
  text,
} from '../../world/option-shapes.ts'
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
}

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
 * The tools of a connected server, for a Host and the agents of its Worlds: `new Host({ tools })` and
 * `ToolRegistry({ tools: declare(...tools) })`. They are named `<server>__<tool>`.
 *
 * @throws `invalid-argument`
 */
export function mcpTools(connection: McpConnection, options: McpToolsOptions = {}): readonly Tool[] {
  refuseMisfit('mcpTools', 'connection', connection, connectionShape)
  checkOptions('mcpTools', options, { trusted: flag })
  const { offer } = connection
  if (offer === undefined) {
    throw new EntiaError(
      'invalid-argument',
      `mcpTools: the connection to '${connection.name}' was never made. Await connectMcp.`,
    )
  }
  return offeredTools(connection, offer, options).map(({ tool }) => tool)
}

/**
 * The tools of a connected server for one turn of a chat session: `turn(prompt, session, { toolSource })`.
 *
 * @throws `invalid-argument`
 */
export function mcpToolSource(connection: McpConnection, options: McpToolsOptions = {}): ToolSource {
  const tools = new Map(mcpTools(connection, options).map((tool) => [tool.declaration.name, tool as McpTool]))
  return {
    declarations: [...tools.values()].map(({ declaration }) => declaration),
    async call(name, input, context) {
      const tool = tools.get(name)
      if (tool === undefined) return errorOutput(`there is no tool named ${name}.`)
      return tool.run(input as JsonObject, context)
    },
  }
}

/** A tool whose result can be had as it is, for those who cap it themselves. */
interface McpTool extends Tool {
  readonly run: (
    input: JsonObject,
    context: Pick<ToolContext, 'signal'> & Partial<Pick<ToolContext, 'progress'>>,
  ) => Promise<unknown>
}

/** A tool, and what it is called at its server; absent for those that read its resources. */
interface OfferedTool {
  readonly tool: McpTool
  readonly raw: string | undefined
}

/**
 * Handlers for what a server offers.
 *
 * @param taken names that other tools have; those given are added
 * @param before names that tools had, by their own names
 */
function offeredTools(
  connection: McpConnection,
  offer: Offer,
  { trusted = false }: McpToolsOptions,
  taken: Set<string> = new Set(),
  before: ReadonlyMap<string, string> = new Map(),
): readonly OfferedTool[] {
  const server = connection.name
  const listed = [...new Map(offer.tools.map((tool) => [tool.name, tool])).values()]
  const names = toolNames(
    server,
    listed.map(({ name }) => name),
    taken,
    before,
  )
  const tools = listed.map((each): OfferedTool => {
    const declaration = toolDeclaration(server, names.get(each.name) as string, each, trusted)
    const run: McpTool['run'] = async (input, context) => connection.call(each.name, input, context)
    return { raw: each.name, tool: toolOf(declaration, run) }
  })
  if (!offer.hasResources) return tools
  return [...tools, ...resourceTools(connection, trusted, taken)]
}

/** Resources are read by tools of their own. */
function resourceTools(connection: McpConnection, trusted: boolean, taken: Set<string>): readonly OfferedTool[] {
  const server = connection.name
  const names = toolNames(server, ['list_resources', 'read_resource'], taken)
  const made = (name: string, what: string, properties: JsonObject, run: McpTool['run']): OfferedTool => {
    const listed = { name, inputSchema: { type: 'object', properties, required: Object.keys(properties) } }
    const hints = { readOnly: true }
    const declaration = toolDeclaration(server, names.get(name) as string, { ...listed, hints }, trusted)
    return { raw: undefined, tool: toolOf({ ...declaration, description: what }, run) }
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
  elicit: callback,
  connectTimeoutMs: count,
  maxMessageBytes: count,
  passEnv: listOf(text),
  auth: objectWith('an OAuth provider of the MCP SDK', 'tokens', 'saveTokens'),
}
