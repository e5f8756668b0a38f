import type { Store, StoredWorld } from '../stores/port.ts'
import type { Delta } from '../world/changes.ts'
import type { Component } from '../world/component.ts'
import { EntiaError } from '../world/entia-error.ts'
import type { Step } from '../world/journal.ts'
import type { Json } from '../world/json.ts'
import { tokensOf } from '../world/restore.ts'
import { tick } from '../world/tick.ts'
import { World } from '../world/world.ts'
import type { System } from '../world/world.ts'
import { openSnapshot } from './loop/keeper.ts'

/** A run that can be replayed: where it began, and all that came in since. */
export type Recording = StoredWorld

export interface ReplayOptions {
  readonly systems: readonly System[]
  readonly components: Iterable<Component> | Readonly<Record<string, unknown>>
}

/** Where a replay went another way than the recorded run. */
export interface Difference {
  readonly tick: number
  /** The system that wrote the component: in the replay, or else in the recorded run. */
  readonly system: string | undefined
  /** `World` stands for time, dice and counters. */
  readonly component: string
  readonly recorded: Json | undefined
  readonly replayed: Json | undefined
}

export interface ReplayResult {
  /** The world as it is after the last tick that went the same way. */
  readonly world: World
  readonly ticks: number
  readonly hash: string
  readonly difference: Difference | undefined
}

/** The recording of a world, a session's too, that was run with `record: true`. @throws `no-such-world`, `world-locked` */
export async function recordingOf(store: Store, name: string): Promise<Recording> {
  const root = (await store.list()).find((world) => world.name === name)?.root
  const journal = await store.open(name, { record: true, root })
  try {
    const recording = await journal.recording()
    if (recording !== undefined) return recording
  } finally {
    await journal.close()
  }
  throw new EntiaError('no-such-world', `The store has no recording of a world '${name}'. Run it with record: true.`)
}

/**
 * Runs the recorded inputs through the systems again: no model is called, no tool run. Stops at the first difference.
 *
 * @throws `corrupt-snapshot`, `corrupt-journal`, and what restoring throws
 */
export function replay(recording: Recording, { systems, components }: ReplayOptions): ReplayResult {
  const { codec, lines } = openSnapshot(recording)
  const world = World.restore(lines, { systems, components: tokensOf(components) })
  world.core.inbox.length = 0
  let ticks = 0
  for (const { tick: number, line } of recording.rows) {
    const step = codec.decode(line, `recording of world '${world.name}', tick ${number}`)
    const difference = replayStep(world, step)
    if (difference !== undefined) return { world, ticks, hash: world.hash(), difference }
    ticks++
  }
  return { world, ticks, hash: world.hash(), difference: undefined }
}

function replayStep(world: World, step: Step): Difference | undefined {
  const result = tick(world, step.inputs, { nowMs: step.delta.nowMs })
  if (JSON.stringify(sorted(result.delta)) === JSON.stringify(sorted(step.delta))) return undefined
  const component = firstDifference(step, result)
  return {
    tick: step.delta.tick,
    system: result.writers[component] ?? step.writers?.[component],
    component,
    recorded: changesOf(step.delta, component),
    replayed: changesOf(result.delta, component),
  }
}

/** The one that was written first: others may follow from it. What no component accounts for is the world's own. */
function firstDifference(recorded: Step, replayed: Step): string {
  // The names of writers stand in the order in which the systems first wrote.
  const names = new Set([replayed, recorded].flatMap(({ writers = {} }) => Object.keys(writers)))
  for (const { delta } of [recorded, replayed]) {
    for (const kind of kinds) for (const name of Object.keys(delta[kind] ?? {})) names.add(name)
  }
  const differs = (name: string): boolean =>
    JSON.stringify(changesOf(recorded.delta, name)) !== JSON.stringify(changesOf(replayed.delta, name))
  return Array.from(names).find(differs) ?? 'World'
}

const kinds = ['set', 'appended', 'spliced', 'removed'] as const

function changesOf(delta: Delta, component: string): Json | undefined {
  if (component === 'World') {
    const { tick: number, nowMs, next, ids, random, run, spawned = [], despawned = [] } = delta
    return { tick: number, nowMs, next, ids, random, ...(run !== undefined && { run }), spawned, despawned }
  }
  const found = kinds.flatMap((kind) =>
    delta[kind]?.[component] === undefined ? [] : [[kind, delta[kind][component]]],
  )
  return found.length === 0 ? undefined : (Object.fromEntries(found) as Json)
}

function sorted(delta: Delta): Json {
  const entries = Object.entries(delta).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries) as Json
}
