import { z } from 'zod'
import { defineComponent } from '../../src/world/component.ts'
import { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'

/** The tools that an agent is told of, in the order in which its model sees them. Names are unique. */
export const ToolRegistry = defineComponent('ToolRegistry', () =>
  z.strictObject({
    tools: z
      .array(ToolDeclaration())
      .refine((tools) => new Set(tools.map((tool) => tool.name)).size === tools.length, 'two tools have the same name'),
  }),
)
