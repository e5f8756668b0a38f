import type { ToolDeclaration } from '../protocol/tool-declaration.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Tool } from './port.ts'

/**
 * What tools declare, in the order given, for the `ToolRegistry` of an agent; a declaration stands for itself. Those of
 * tools are frozen, and the same objects each time, so agents share them.
 *
 * @throws `invalid-argument` when two tools have the same name, or something is neither a tool nor a declaration
 */
export function declare(...tools: readonly (Tool | ToolDeclaration)[]): ToolDeclaration[] {
  const names = new Set<string>()
  return tools.map((tool, index) => {
    const declaration = declarationOf(tool)
    if (declaration === undefined) {
      const what = Array.isArray(tool) ? 'a list; write declare(...tools)' : 'no tool; make one with defineTool'
      throw new EntiaError('invalid-argument', `declare: argument ${index + 1} is ${what}.`, { index })
    }
    const { name } = declaration
    if (names.has(name)) {
      throw new EntiaError(
        'invalid-argument',
        `declare: two tools are named '${name}'; a model could not tell them apart.`,
        { name },
      )
    }
    names.add(name)
    return declaration
  })
}

function declarationOf(tool: Tool | ToolDeclaration): ToolDeclaration | undefined {
  if (typeof tool !== 'object' || tool === null) return undefined
  const declaration = 'declaration' in tool ? tool.declaration : tool
  return typeof declaration?.name === 'string' ? declaration : undefined
}
