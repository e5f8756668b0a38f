import type { InputOf, StandardInput } from '../components/input.ts'
import type { Input } from '../src/world/input.ts'
import type { World } from '../src/world/world.ts'

/** This tick's inputs of one kind, in order of arrival. */
export function inputsOf<K extends StandardInput['kind']>(world: World, kind: K): readonly InputOf<K>[] {
  return world.inputs.filter((input): input is Input & InputOf<K> => input.kind === kind)
}
