import { checkedLayer, type ConfigInput } from './checked-layer.ts'
import { isPlain } from './setting-kind.ts'

/**
 * One configuration out of several, later ones before earlier ones: objects merge, all else is replaced. A key is the same
 * in either spelling; it comes out in camelCase. A layer that is `undefined` says nothing. Nothing is filled in, and what
 * keys ask of each other is left to `readConfig`.
 *
 * @throws `config-invalid` for what is wrong in any layer, though a later one may replace it
 */
export function mergeConfig(...layers: readonly unknown[]): ConfigInput {
  return layers.map(checkedLayer).reduce<ConfigInput>((below, above) => merged(below, above), {})
}

function merged<T extends object>(below: T, above: T): T {
  const both = new Map<string, unknown>(Object.entries(below))
  for (const [key, value] of Object.entries(above)) {
    const before = both.get(key)
    both.set(key, isPlain(before) && isPlain(value) ? merged(before, value) : value)
  }
  return Object.fromEntries(both) as T
}
