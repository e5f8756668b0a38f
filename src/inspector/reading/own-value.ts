/** What a record has under a name that a person, a program or a model chose: `constructor` is such a name too. */
export function ownValue<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined
}
