import { oneLine } from '../../../src/base/one-line.ts'
import { z } from 'zod'
import { permittedTools } from '../../../src/rules/delegation/permissions.ts'
import { foundTools } from '../../../src/rules/projection/deferred-tools.ts'
import { filledText, worldTool } from './world-tool.ts'

/** `find_tools`: searches the tools that the model is not shown. */
export const findTools = worldTool(
  'find_tools',
  () => z.object({ query: filledText() }),
  (world, { query }, { agent }) => {
    return foundTools(permittedTools(world, agent), query)
  },
)

/** `call_tool`: a call of a tool that is there stands for that one, and does not come here. */
export const callTool = worldTool(
  'call_tool',
  () => z.object({ name: filledText() }),
  (_, { name }) => ({
    problem: `find_tools finds no tool named ${oneLine(name)}. Search for it, or call it by itself.`,
  }),
)
