import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Tool } from './port.ts'

/**
 * What tools declare, in the order given, for the `ToolRegistry` of an agent. The declarations are frozen, and the same
 * objects each time, so agents share them.
 *
 * @throws `invalid-argument` when two tools have the same name, or something is no tool
 */
export function declare(...tools: readonly Tool[]): ToolDeclaration[] {
  const names = new Set<string>()
  return tools.map((tool, index) => {
    if (typeof tool?.declaration?.name !== 'string') {
      const what = Array.isArray(tool) ? 'a list; write declare(...tools)' : 'no tool; make one with defineTool'
      throw new EntiaError('invalid-argument', `declare: argument ${index + 1} is ${what}.`, { index })
    }
    const { name } = tool.declaration
    if (names.has(name)) {
      throw new EntiaError(
        'invalid-argument',
        `declare: two tools are named '${name}'; a model could not tell them apart.`,
        { name },
      )
    }
    names.add(name)
    return tool.declaration
  })
}
