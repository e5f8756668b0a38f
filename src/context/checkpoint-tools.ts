import type { ToolDeclaration } from '../../components/tool-declaration.ts'
import { worldDeclaration } from '../subagents/declarations.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { hasCheckpointer } from './checkpointer.ts'

const markTaskDone: ToolDeclaration = worldDeclaration(
  'mark_task_done',
  'Marks the task that you were working on as complete. Call it when a task is done and checked, before you turn to ' +
    'something else: a short record takes the place of the conversation so far, and you go on from that. Do not call it ' +
    'in the middle of a task.',
  { detail: { type: 'string', description: 'What was done, and what has to be remembered of it.' } },
  ['detail'],
)
const all = [markTaskDone]
const none: readonly ToolDeclaration[] = []

/** The tool by which an agent says that its task is done, if that can be marked. */
export const checkpointTools = {
  names: [markTaskDone.name],
  declare(world: World, agent: Entity): readonly ToolDeclaration[] {
    return hasCheckpointer(world, agent) ? all : none
  },
}
