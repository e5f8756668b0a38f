/** Proposes similar known names; empty if there are none. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const most = Math.max(2, Math.floor(name.length / 3))
  const near = Array.from(known, (other) => ({ other, changes: changesBetween(name, other) }))
    .filter(({ changes }) => changes <= most)
    .sort((a, b) => a.changes - b.changes)
    .slice(0, 3)
  return near.length === 0 ? '' : ` Did you mean ${near.map(({ other }) => `'${other}'`).join(' or ')}?`
}

/** Edit distance. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1]
    for (let index = 0; index < other.length; index++) {
      const replaced = (row[index] as number) + Number(one[at] !== other[index])
      next.push(Math.min(replaced, (row[index + 1] as number) + 1, (next[index] as number) + 1))
    }
    row = next
  }
  return row.at(-1) as number
}
