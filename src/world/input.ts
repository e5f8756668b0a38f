import type { JsonObject } from './json.ts'

/** Anything that enters a world between ticks, as data. Systems pick theirs from `world.inputs` by `kind`. */
export type Input = JsonObject & { readonly kind: string }

/** Something that happened, for listeners. Told after the commit of its tick; no part of the state. */
export type WorldEvent = JsonObject & { readonly type: string }
