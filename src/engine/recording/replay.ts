import type { Delta } from '../../world/changes.ts'
import type { Component } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { Step } from '../../world/journal.ts'
import type { Json } from '../../base/json.ts'
import { tokensOf } from '../../world/restore.ts'
import { tick } from '../../world/tick.ts'
import type { System, World } from '../../world/world.ts'
import { recordedWorlds } from './recorded-worlds.ts'
import type { Recording } from './recording.ts'

/** Options of `replay`. */
export interface ReplayOptions {
  readonly systems: readonly System[]
  readonly components: Iterable<Component> | Readonly<Record<string, unknown>>
}

/** Where a replay differs from its recording. */
export interface Difference {
  readonly tick: number
  /** The system that wrote the component, in the replay or else in the recording. */
  readonly system: string | undefined
  /** `World`: time, random numbers and counters. */
  readonly component: string
  readonly recorded: Json | undefined
  readonly replayed: Json | undefined
}

/** A world of a replay. */
export interface ReplayedWorld {
  readonly name: string
  /** A readable name: `team`, or `team/1.2` for the second session of agent 1. */
  readonly label: string
  /** How many ticks were the same. */
  readonly ticks: number
  /** SHA-256 of the world after those. */
  readonly hash: string
  /** Version of entia that began the recording; absent in old ones. */
  readonly version?: string
  /** The first difference; absent: none. */
  readonly difference?: Difference
}

/** What a replay has found. */
export interface ReplayResult {
  /** The root world after the last tick that was the same. */
  readonly world: World
  /** How many of its ticks were the same. */
  readonly ticks: number
  readonly hash: string
  /** The difference of the first world that has one. */
  readonly difference: Difference | undefined
  /** Every world of the recording, the root first. */
  readonly worlds: readonly ReplayedWorld[]
}

/**
 * Runs the recorded inputs through the systems again, without models and tools. Each world stops at its first difference.
 * @throws `corrupt-snapshot`, `corrupt-journal`, and what restoring throws
 */
export function replay(recording: Recording, { systems, components }: ReplayOptions): ReplayResult {
  const tokens = tokensOf(components)
  const worlds: ReplayedWorld[] = []
  let root: World | undefined
  for (const { recorded, label } of recordedWorlds(recording, tokens)) {
    const world = recorded.restore({ systems, components: tokens })
    root ??= world
    const { name, version } = recorded
    const went = replaySteps(world, recorded.steps())
    worlds.push({ name, label, ...went, hash: world.hash(), ...(version !== undefined && { version }) })
  }
  const [first] = worlds
  if (root === undefined || first === undefined) {
    throw new EntiaError('invalid-argument', 'replay(): the recording must have a world, got none.')
  }
  const difference = worlds.find((each) => each.difference !== undefined)?.difference
  return { world: root, ticks: first.ticks, hash: first.hash, difference, worlds }
}

function replaySteps(world: World, steps: Iterable<Step>): Pick<ReplayedWorld, 'ticks' | 'difference'> {
  let ticks = 0
  for (const step of steps) {
    const difference = replayStep(world, step)
    if (difference !== undefined) return { ticks, difference }
    ticks++
  }
  return { ticks }
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

/** The component that was written first, since others may follow from it; `World` if no component differs. */
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
