/** `a, b and c`. */
export function listed(items: readonly string[], joint: 'and' | 'or' = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${joint} ${items.at(-1)}`
}

/** `1 file`, `2 files`. */
export function many(count: number, noun: string, more = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : more}`
}
