import { z } from 'zod'
import { type DataOf, defineComponent } from '../../src/world/component.ts'
import { ToolDeclaration } from '../../src/protocol/tool-declaration.ts'

/** The tools of an agent, in the order in which its model sees them. Names are unique. */
export const ToolRegistry = defineComponent('ToolRegistry', () =>
  z.strictObject({
    tools: z
      .array(ToolDeclaration())
      .refine((tools) => new Set(tools.map((tool) => tool.name)).size === tools.length, 'two tools have the same name'),
  }),
)

/** Tools installed by the agent's configuration, and removed with it; tools that a program added stay. */
export const InstalledTools = defineComponent('InstalledTools', () => z.strictObject({ names: z.array(z.string()) }))

/** Which of its tools an agent may run. `denied` beats `allowed`; without `allowed`, all that are not denied. */
export const Permissions = defineComponent('Permissions', () =>
  z.strictObject({
    /** Subagents inherit it only by `inheritPermissions`. */
    allowed: z.array(z.string()).optional(),
    /** Every session below inherits it, as of its launch. */
    denied: z.array(z.string()).optional(),
    /** Denied tools that it may run all the same: those of its `SubagentConfig`. Inherited by forks only. */
    granted: z.array(z.string()).optional(),
  }),
)
export type PermissionsData = DataOf<() => typeof Permissions.schema>
