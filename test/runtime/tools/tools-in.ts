import type { Json, Tool, ToolContext } from 'entia'
import { builtinTools, type BuiltinToolsOptions } from 'entia/runtime'
import { callTool, textOf } from '../../tools/calling.ts'

/** Calls built-in tools, all of one chat session, by name. */
export interface Calls {
  (name: string, input: Json, changes?: Partial<ToolContext>): Promise<string>
  readonly tools: readonly Tool[]
}

/** The built-in tools of a working folder. */
export function toolsIn(cwd: string, options: Partial<BuiltinToolsOptions> = {}): Calls {
  const tools = builtinTools({ cwd, ...options })
  const call = async (name: string, input: Json, changes: Partial<ToolContext> = {}): Promise<string> => {
    const tool = tools.find(({ declaration }) => declaration.name === name)
    if (tool === undefined) throw new Error(`There is no tool ${name}.`)
    return textOf(await callTool(tool, input, changes))
  }
  return Object.assign(call, { tools })
}
