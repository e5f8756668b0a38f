type Counts = { readonly [name: string]: number | undefined }

/** Counts with others added to them, name by name. What is not known adds nothing, and is not known if nothing is. */
export function withAdded<T extends Counts>(counts: T, more: { readonly [K in keyof T]?: number | undefined }): T {
  const sums: { [name: string]: number | undefined } = { ...counts }
  for (const name in more) {
    const add = more[name]
    if (add !== undefined) sums[name] = (sums[name] ?? 0) + add
  }
  return sums as T
}
