import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { workerDeclarations } from '../../rules/delegation/declarations.ts'
import type { Tool } from '../../tools/port.ts'
import { errorOutput } from '../../tools/tool-output.ts'
import type { ToolSettings } from './settings.ts'

/** The tools by which a model has subagents. The systems of its world answer them. */
export const subagentTools = workerDeclarations('investigate').map((_, index) => {
  return ({ subagentPreset }: ToolSettings): Tool => {
    const declaration = workerDeclarations(subagentPreset)[index] as ToolDeclaration
    const problem = `${declaration.name} is answered by the systems of a world: it runs for its agents alone.`
    return Object.freeze<Tool>({ declaration, call: () => errorOutput(problem) })
  }
})
