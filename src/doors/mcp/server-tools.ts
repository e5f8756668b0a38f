import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import type { Tool } from '../../tools/port.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ServerApprovals } from './server-approval.ts'
import type { ServerCalls } from './server-calls.ts'
import type { ServerCaller } from './server-caller.ts'
import { mcpResult } from './server-content.ts'

/** What the tools of one connection, session or request run on. */
export interface ToolsOfServer {
  readonly tools: readonly Tool[]
  readonly calls: ServerCalls
  readonly caller: ServerCaller
  readonly approvals: ServerApprovals
}

/** Offers tools to the client of a server. */
export function offerTools(server: McpServer, { approvals, caller, calls, tools }: ToolsOfServer): void {
  for (const { declaration } of tools) {
    const { description, name } = declaration
    const config = { description, inputSchema: schemaOf(declaration), annotations: annotationsOf(declaration) }
    server.registerTool(name, config, async (given, context): Promise<CallToolResult | InputRequiredResult> => {
      const asking = approvals.asking(context, offersForms(server))
      const output = await caller.use((who) =>
        calls.call(who, {
          tool: name,
          arguments: given as JsonObject,
          signal: context.mcpReq.signal,
          progress: progressTo(context),
          approve: asking.approve,
        }),
      )
      return (await asking.question()) ?? mcpResult(output)
    })
  }
}

/** Does the client put questions to its user? */
function offersForms({ server }: McpServer): boolean {
  const { elicitation } =
    // oxlint-disable-next-line typescript/no-deprecated -- of a session there is no other way to know, and it holds for requests too
    server.getClientCapabilities() ?? {}
  // One that names modes and leaves out forms has none.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** The SDK passes arguments on as they are: the world checks them, and says what is wrong as it does to its own models. */
function schemaOf({ inputSchema }: ToolDeclaration) {
  const jsonSchema = () => inputSchema as Record<string, unknown>
  return {
    '~standard': {
      version: 1 as const,
      vendor: 'entia',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  }
}

/** Hints only: clients are told not to rely on them. */
function annotationsOf({ category, operation, restart }: ToolDeclaration) {
  return {
    readOnlyHint: operation === 'read',
    ...(operation !== 'read' && { destructiveHint: true, idempotentHint: restart !== 'once' }),
    ...(category !== undefined && { openWorldHint: category === 'web' || category === 'chat' }),
  }
}

/** Reports progress if the client has asked for it. What it gets only grows, as the protocol has it. */
function progressTo({
  mcpReq: { _meta: meta, notify },
}: ServerContext): (message: string, fraction: number | undefined) => void {
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let last = -1
  return (message, fraction) => {
    const progress = fraction === undefined ? last + 0.001 : fraction * 100
    if (progress <= last) return
    last = progress
    const params = { progressToken, progress, message, ...(fraction !== undefined && { total: 100 }) }
    // A client that is gone gets none.
    notify({ method: 'notifications/progress', params }).catch(() => undefined)
  }
}
