import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { Subtask, type SubtaskData } from '../../../components/sessions/subtask.ts'
import type { DrivenWorld } from '../effects/host-seams.ts'
import type { Step } from '../../world/journal.ts'

/** Readable names of worlds: `team`, `team/1.2` for the second session of its agent 1, `team/1.sub2` for a subtask. */
export class Labels {
  readonly #byWorld = new Map<string, string>()

  of({ world, path }: DrivenWorld): string {
    if (path.length === 0) this.#byWorld.set(world.name, world.name)
    return this.named(world.name)
  }

  named(world: string): string {
    return this.#byWorld.get(world) ?? world
  }

  learnAll(driven: DrivenWorld): void {
    const { world } = driven
    for (const session of world.entitiesWith(SubagentSession)) {
      this.#learn(this.of(driven), world.read(session, SubagentSession))
    }
    for (const subtask of world.entitiesWith(Subtask)) {
      this.#learnSubtask(this.of(driven), world.read(subtask, Subtask))
    }
  }

  learn(driven: DrivenWorld, { delta }: Step): void {
    const { [SubagentSession.name]: sessions, [Subtask.name]: subtasks } = delta.set ?? {}
    for (const [, record] of sessions ?? []) this.#learn(this.of(driven), record as SubagentSessionData)
    for (const [, subtask] of subtasks ?? []) this.#learnSubtask(this.of(driven), subtask as SubtaskData)
  }

  #learn(parentLabel: string, { sessionId, parent, sequence }: SubagentSessionData): void {
    if (!this.#byWorld.has(sessionId)) this.#byWorld.set(sessionId, `${parentLabel}/${parent}.${sequence}`)
  }

  #learnSubtask(parentLabel: string, { agent, subtaskId }: SubtaskData): void {
    const number = subtaskId.slice(subtaskId.lastIndexOf(':') + 1)
    if (!this.#byWorld.has(subtaskId)) this.#byWorld.set(subtaskId, `${parentLabel}/${agent}.sub${number}`)
  }
}
