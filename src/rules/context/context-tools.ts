import type { ToolDeclaration } from '../../protocol/tool-declaration.ts'
import { agenticTools } from './agentic-wrapper.ts'
import { archivalTools } from './archival-tools.ts'
import { hasCheckpointer } from './checkpointer.ts'
import { worldDeclaration } from '../delegation/declarations.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** Some of the tools that come with a configuration. */
interface Group {
  readonly names: readonly string[]
  /** Those that an agent has now, given the tools of its own. */
  declare(world: World, agent: Entity, own: readonly ToolDeclaration[]): readonly ToolDeclaration[]
}

const markTaskDone: ToolDeclaration = worldDeclaration(
  'mark_task_done',
  'Marks the task that you were working on as complete. Call it when a task is done and checked, before you turn to ' +
    'something else: a short record takes the place of the conversation so far, and you go on from that. Do not call it ' +
    'in the middle of a task.',
  { detail: { type: 'string', description: 'What was done, and what has to be remembered of it.' } },
  ['detail'],
)

/** The tool by which an agent says that its task is done, if that can be marked. */
const checkpointTools: Group = {
  names: [markTaskDone.name],
  declare: (world, agent) => (hasCheckpointer(world, agent) ? [markTaskDone] : []),
}

/** The tools that come with an agent's configuration, in the order in which its model sees them. */
const groups: readonly Group[] = [agenticTools, archivalTools, checkpointTools]

/** Names of all of them, installed or not. */
export const contextToolNames: ReadonlySet<string> = new Set(groups.flatMap(({ names }) => names))

/** The tools that an agent has by its configuration as it is now. */
export function contextTools(world: World, agent: Entity, own: readonly ToolDeclaration[]): readonly ToolDeclaration[] {
  return groups.flatMap((group) => group.declare(world, agent, own))
}
