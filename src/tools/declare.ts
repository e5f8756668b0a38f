import type { ToolDeclaration } from '../protocol/tool-declaration.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Tool } from './port.ts'

/**
 * The declarations of tools, in order, for an agent's `ToolRegistry`. They are frozen and shared by agents.
 *
 * @throws `invalid-argument` for two tools of one name, and for what is neither tool nor declaration
 */
export function declare(...tools: readonly (Pick<Tool, 'declaration'> | ToolDeclaration)[]): ToolDeclaration[] {
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

function declarationOf(tool: Pick<Tool, 'declaration'> | ToolDeclaration): ToolDeclaration | undefined {
  if (typeof tool !== 'object' || tool === null) return undefined
  const declaration = 'declaration' in tool ? tool.declaration : tool
  return typeof declaration?.name === 'string' ? declaration : undefined
}
