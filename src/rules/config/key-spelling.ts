/** A name in camelCase, spelt as in a configuration file: `cacheWrite1h` is `cache_write_1h`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`)
}

/** The name that a key is a spelling of, as it is or in snake_case; `undefined` if it is of none of these. */
export function nameOfKey(key: string, names: readonly string[]): string | undefined {
  return names.find((name) => key === name || key === snakeCase(name))
}
