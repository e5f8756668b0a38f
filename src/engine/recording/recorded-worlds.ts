import type { Component } from '../../world/component.ts'
import type { Step } from '../../world/journal.ts'
import type { SnapshotHead } from '../../world/snapshot.ts'
import { type System, World } from '../../world/world.ts'
import { openSnapshot } from '../loop/stored-ticks.ts'
import type { Recording, SavedWorld } from './recording.ts'
import { SubagentSession, type SubagentSessionData } from '../../../components/sessions/subagent-session.ts'
import { Subtask, type SubtaskData } from '../../../components/sessions/subtask.ts'
import type { DrivenWorld } from '../effects/host-seams.ts'

export class RecordedWorld {
  readonly name: string
  /** Version of entia that began the recording; `undefined` in old ones. */
  readonly version: string | undefined
  readonly head: SnapshotHead
  readonly lines: readonly string[]
  readonly #saved: SavedWorld

  constructor(saved: SavedWorld) {
    const { head, lines, version } = openSnapshot(saved)
    this.#saved = saved
    this.name = saved.name
    this.version = version
    this.head = head
    this.lines = lines
  }

  restore(options: { readonly components: Iterable<Component>; readonly systems?: readonly System[] }): World {
    const world = World.restore(this.lines, options)
    // The first recorded tick has these inputs.
    world.core.inbox.length = 0
    return world
  }

  *steps(): Generator<Step> {
    const { codec } = openSnapshot(this.#saved)
    for (const { tick, line } of this.#saved.rows) {
      yield codec.decode(line, `recording of world '${this.name}', tick ${tick}`)
    }
  }
}

export interface LabelledWorld {
  readonly recorded: RecordedWorld
  /** A readable name: `team`, or `team/1.2` for the second session of agent 1. */
  readonly label: string
  /** As it was when the recording began. */
  readonly world: World
}

export function* recordedWorlds(
  { root, worlds }: Recording,
  components: Iterable<Component>,
): Generator<LabelledWorld> {
  const labels = new Labels()
  const left = new Map(worlds.map((world) => [world.name, world]))
  while (left.size > 0) {
    // A world that no other mentions keeps its name.
    const isKnown = (name: string): boolean => name === root || labels.named(name) !== name
    const [first] = left.values()
    const next = [...left.values()].find(({ name }) => isKnown(name)) ?? first
    if (next === undefined) return
    left.delete(next.name)
    const recorded = new RecordedWorld(next)
    const world = recorded.restore({ components })
    const driven = { world, path: next.name === root ? [] : [next.name], inSlot: next.name !== root }
    labels.learnAll(driven)
    for (const step of recorded.steps()) labels.learn(driven, step)
    yield { recorded, label: labels.of(driven), world }
  }
}

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
