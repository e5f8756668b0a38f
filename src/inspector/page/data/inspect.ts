/** Stands for `src/base/inspect.ts` in a browser: a value in an error message. */
export function inspect(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, 100)}'`
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
