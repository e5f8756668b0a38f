/** Entia and the Model Context Protocol: its tools for other programs, and the tools of others for its agents. */

export {
  type AnswerElicitation,
  connectDefaults,
  type ConnectOptions,
  type McpConnection,
  type McpTarget,
} from '../../runtime/mcp/mcp-connection.ts'
export type { Offer } from '../../runtime/mcp/offer.ts'
export { connectMcp, mcpDefaults, mcpTools, mcpToolSource, type McpToolsOptions } from '../../runtime/mcp/mcp-tools.ts'
export { type McpHandler, mcpHandler } from './mcp-handler.ts'
export { type McpServerHandle, serve } from './serve.ts'
export {
  type HttpServerOptions,
  type McpHandlerOptions,
  type McpServerOptions,
  type ServeOptions,
  serverDefaults,
} from './server-options.ts'
