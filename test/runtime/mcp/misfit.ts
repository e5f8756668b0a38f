import { join } from 'node:path'
import type { Tool, ToolContext } from 'entia'
import { connectMcp, type ConnectOptions, type McpConnection, mcpTools } from 'entia/mcp'
import { onTestFinished } from 'vitest'

const program = join(import.meta.dirname, '../../programs/mcp-misfit.mjs')

/** How the server that keeps the protocol badly is started. */
export function misfit(...words: readonly string[]): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [program, ...words] }
}

/** A connection to it, which is closed at the end of the test. */
export async function connected(options: ConnectOptions = {}, ...words: readonly string[]): Promise<McpConnection> {
  const connection = await connectMcp(misfit(...words), { name: 'misfit', ...options })
  onTestFinished(() => connection.close())
  return connection
}

function callContext(more: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    key: 'key',
    attempt: 1,
    agent: 1,
    world: 'world',
    progress: () => {},
    sleep: async () => {},
    post: async () => {},
    message: async () => {},
    ...more,
  }
}

/** Calls a tool by its name, and gives the text of its result. */
export async function called(
  tools: readonly Tool[],
  name: string,
  input: Parameters<Tool['call']>[0] = {},
  more: Partial<ToolContext> = {},
): Promise<string> {
  const tool = tools.find(({ declaration }) => declaration.name === name)
  if (tool === undefined) throw new Error(`There is no tool ${name}.`)
  const { content } = await tool.call(input, callContext(more))
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.mediaType}>`)).join('\n')
}

export { mcpTools }
