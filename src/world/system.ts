import type { JsonObject } from './json.ts'
import type { World } from './world.ts'

/**
 * What a world does each tick. `run` is synchronous and has nothing but the world: no clock, dice, disk, network or
 * environment. Lower priority runs first; equal priority, in order of registration.
 */
export interface System {
  readonly name: string
  readonly priority: number
  readonly run: (world: World) => void
}

/** Anything that enters a world between ticks, as data. Systems pick theirs from `world.inputs` by `kind`. */
export type Input = JsonObject & { readonly kind: string }

/** Something that happened, for listeners. Told after the commit of its tick; no part of the state. */
export type WorldEvent = JsonObject & { readonly type: string }

