import { openSnapshot } from '../../engine/loop/keeper.ts'
import type { Component } from '../../world/component.ts'
import type { Step } from '../../world/journal.ts'
import { World } from '../../world/world.ts'
import { Labels } from '../labels.ts'
import type { SavedRecording, SavedWorld } from './saved-recording.ts'

/** A world of a recording, opened. */
export interface RecordedWorld extends SavedWorld {
  /** As a simulation's trace names it. */
  readonly label: string
  /** As it was when the recording began. */
  readonly world: World
  readonly steps: readonly Step[]
}

/**
 * The worlds of a recording, each behind that of its parent.
 *
 * @throws `corrupt-journal`, and what restoring throws
 */
export function* recordedWorlds(
  { root, worlds }: SavedRecording,
  components: Iterable<Component>,
): Generator<RecordedWorld> {
  const labels = new Labels()
  const left = new Map(worlds.map((world) => [world.name, world]))
  while (left.size > 0) {
    // One that no world tells of goes under its own name.
    const isKnown = (name: string): boolean => name === root || labels.named(name) !== name
    const [first] = left.values()
    const next = [...left.values()].find(({ name }) => isKnown(name)) ?? first
    if (next === undefined) return
    left.delete(next.name)
    const opened = open(next, components)
    const driven = { world: opened.world, path: next.name === root ? [] : [next.name], inSlot: next.name !== root }
    labels.learnAll(driven)
    for (const step of opened.steps) labels.learn(driven, step)
    yield { ...next, ...opened, label: labels.of(driven) }
  }
}

function open(
  { name, recording }: SavedWorld,
  components: Iterable<Component>,
): { readonly world: World; readonly steps: readonly Step[] } {
  const { codec, lines } = openSnapshot(recording)
  const world = World.restore(lines, { components })
  const steps = recording.rows.map(({ tick, line }) => codec.decode(line, `recording of world '${name}', tick ${tick}`))
  return { world, steps }
}
