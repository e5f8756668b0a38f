import type { Finding } from '../law.ts'

export function firstFinding<T>(items: Iterable<T>, check: (item: T) => Finding): Finding {
  for (const item of items) {
    const finding = check(item)
    if (finding !== undefined) return finding
  }
  return undefined
}
