import type { JsonObject } from './json.ts'

/** Anything that enters a world between ticks, as data. Systems pick theirs from `world.inputs` by `kind`. */
export type Input = JsonObject & { readonly kind: string }

/** Something that happened, for listeners. Told after the commit of its tick; no part of the state. */
export type WorldEvent = JsonObject & { readonly type: string }

/**
 * Events of a program's own, by type, which its systems name in `events`. Declared by merging:
 * `declare module 'entia' { interface OwnEvents { 'budget-spent': { readonly agent: number } } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface OwnEvents {}

/** Inputs of a program's own, by kind, which its systems name in `inputs`. Declared by merging, as `OwnEvents` are. */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface OwnInputs {}

/** One of them. */
export type OwnInput = {
  [K in keyof OwnInputs]: { readonly kind: K; readonly id?: string | undefined } & OwnInputs[K]
}[keyof OwnInputs]
