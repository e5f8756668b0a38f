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

/** The tools that an agent's configuration has brought along: they go with it, and those that a program gave stay. */
export const InstalledTools = defineComponent('InstalledTools', () => z.strictObject({ names: z.array(z.string()) }))

/** Which of its tools an agent may run. `denied` beats `allowed`; without `allowed`, all that are not denied. */
export const Permissions = defineComponent('Permissions', () =>
  z.strictObject({
    /** Names of tools. Subagents get it only by `inheritPermissions`. */
    allowed: z.array(z.string()).optional(),
    /** Names of tools. It goes down to every session below the agent, as it is when the session is launched. */
    denied: z.array(z.string()).optional(),
    /**
     * Of the denied tools, those that the agent may run all the same: in a session, those that its `SubagentConfig` names
     * in `tools`. It does not go down, except to forks.
     */
    granted: z.array(z.string()).optional(),
  }),
)
export type PermissionsData = DataOf<() => typeof Permissions.schema>
