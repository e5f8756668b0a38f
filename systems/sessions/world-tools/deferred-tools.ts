import { z } from 'zod'
import { Permissions, ToolRegistry } from '../../../components/agent/tool-registry.ts'
import { ToolCeiling } from '../../../components/sessions/ancestry.ts'
import { isPermitted } from '../../../src/rules/delegation/permissions.ts'
import { oneLine } from '../../../src/rules/text/frames.ts'
import { foundTools } from '../../../src/rules/projection/deferred-tools.ts'
import { filledText, worldTool } from './world-tool.ts'

/** `find_tools`: searches the tools that the model is not shown. */
export const findTools = worldTool(
  'find_tools',
  () => z.object({ query: filledText() }),
  (world, { query }, { agent }) => {
    const ceiling = world.get(agent, ToolCeiling)?.allowed
    const tools = world.get(agent, ToolRegistry)?.tools ?? []
    const permitted = tools.filter(({ name }) => isPermitted(name, world.get(agent, Permissions), ceiling))
    return foundTools(permitted, query)
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
