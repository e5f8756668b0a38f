import type { InputOf, StandardInput } from '../../src/protocol/input.ts'
import type { Input } from '../../src/world/input.ts'
import type { World } from '../../src/world/world.ts'

const none: readonly never[] = Object.freeze([])

/** This tick's inputs of one kind, in order of arrival. Mostly there are none. */
export function inputsOf<K extends StandardInput['kind']>(world: World, kind: K): readonly InputOf<K>[] {
  if (!hasInput(world, kind)) return none
  return world.inputs.filter((input): input is Input & InputOf<K> => input.kind === kind)
}

function hasInput({ inputs }: World, kind: string): boolean {
  for (const input of inputs) if (input.kind === kind) return true
  return false
}
