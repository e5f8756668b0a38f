import { Ancestry } from '../../components/ancestry.ts'
import { Effect } from '../../components/effect.ts'
import { Pending } from '../../components/pending.ts'
import { Subtask, type SubtaskData } from '../../components/subtask.ts'
import { SubtaskAccount, SubtaskCount, type SubtaskCountData } from '../../components/subtask-account.ts'
import { nothingSpent } from '../../src/context/subtask-spending.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { tell } from '../tell.ts'

/** What an agent's subtasks have come to before there is any. */
export const noSubtasks: SubtaskCountData = { ended: 0, inputTokens: 0, launched: 0, outputTokens: 0, truncated: 0 }

/** Makes an entity a subtask that is about to run: a tool call that waits for it, or one of its own. */
export function launchSubtask(world: World, effect: Entity, asked: Omit<SubtaskData, 'subtaskId'>): void {
  const { agent, model, name } = asked
  const before = world.get(agent, SubtaskCount) ?? noSubtasks
  const launched = before.launched + 1
  world.set(agent, SubtaskCount, { ...before, launched })
  const subtaskId = `${callerOf(world, agent)}:sub:${name}:${launched}`
  world.set(effect, Subtask, { ...asked, subtaskId })
  const attempt = (world.get(effect, Effect)?.attempt ?? 0) + 1
  world.set(effect, Effect, { attempt, kind: 'subtask', restart: 'resumable' })
  world.add(effect, Pending)
  world.spawn(SubtaskAccount({ agent, model, spent: nothingSpent, subtaskId }))
  tell(world, 'subtask-started', { agent, model, name, subtaskId })
}

/** A session's World has one agent, and no other World its name; of another world's agents each has a number. */
function callerOf(world: World, agent: Entity): string {
  return world.has(agent, Ancestry) ? world.name : `${world.name}/${agent}`
}
