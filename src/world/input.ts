import { canonical } from './canonical.ts'
import { EntiaError } from '../base/entia-error.ts'
import { inspect } from '../base/inspect.ts'
import type { JsonObject } from '../base/json.ts'

/** Enters a world between ticks, as data. Systems find it in `world.inputs`. */
export type Input = JsonObject & { readonly kind: string }

/** Emitted after its tick's commit; not part of the state. */
export type WorldEvent = JsonObject & { readonly type: string }

/**
 * A program's own events, by type; systems list them in `events`. Declared by merging:
 * `declare module 'entia' { interface OwnEvents { 'budget-spent': { readonly agent: number } } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
/** Events of your own, by type: extend it by declaration merging. */
export interface OwnEvents {}

/** A program's own inputs, declared by merging as `OwnEvents` are. */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
/** Inputs of your own, by kind: extend it by declaration merging. */
export interface OwnInputs {}

/** An input of your own. */
export type OwnInput = {
  [K in keyof OwnInputs]: { readonly kind: K; readonly id?: string | undefined } & OwnInputs[K]
}[keyof OwnInputs]

/** An input in canonical form. @throws `not-json`, `invalid-input` */
export function canonicalInput(given: unknown): Input {
  const input = canonical(given, () => 'an input') as Input | null
  if (typeof input?.kind === 'string') return input
  throw new EntiaError('invalid-input', `An input must be an object with a text in 'kind', got ${inspect(input)}.`)
}
