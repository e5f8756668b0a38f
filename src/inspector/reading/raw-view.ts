import type * as components from '../../../components/index.ts'
import type { Component, DeepReadonly, Entity, Log, Tag } from '../../world/component.ts'
import type { RawWorld } from '../../world/raw-world.ts'

type Standard = typeof components

/** Names of the standard components. */
export type StandardName = keyof Standard

type Schema<T> = T extends { readonly schema: { readonly _output: infer Output } } ? DeepReadonly<Output> : never

/** The value of a standard component by its name. What was saved by an older version may differ: read it with care. */
export type StandardValue<Name extends StandardName> = Standard[Name] extends Tag
  ? true
  : Standard[Name] extends Log
    ? readonly Schema<Standard[Name]>[]
    : Schema<Standard[Name]>

/** What is read of a world by the names of its components: a `RawWorld`, or a living one. */
export type RawView = Pick<
  RawWorld,
  'name' | 'tick' | 'nowMs' | 'dateMs' | 'value' | 'entitiesWith' | 'referrers' | 'has'
>

/** A standard component's value. */
export function read<Name extends StandardName>(
  world: RawView,
  entity: Entity,
  name: Name,
): StandardValue<Name> | undefined {
  return world.value(entity, name) as StandardValue<Name> | undefined
}

/** Kinds and references of components, by name, for worlds that are restored without schemas. */
export function rawComponents(
  tokens: Iterable<Component>,
): Record<string, { readonly kind: Component['kind']; readonly ref?: string }> {
  return Object.fromEntries(
    Array.from(tokens, (token) => {
      const ref = token.kind === 'value' ? token.ref : undefined
      return [token.name, { kind: token.kind, ...(ref !== undefined && { ref }) }]
    }),
  )
}

export function agentsOf(world: RawView): readonly Entity[] {
  return world.entitiesWith('Llm')
}
