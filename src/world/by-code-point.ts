/** Compares texts by their code points, the same on every machine. For `toSorted`. */
export function byCodePoint(a: string, b: string): number {
  let index = 0
  while (index < a.length && a.charCodeAt(index) === b.charCodeAt(index)) index++
  return rank(a, index) - rank(b, index)
}

/** Where a text goes from an index on. The halves of a surrogate pair stand below some units that they come after. */
function rank(text: string, index: number): number {
  if (index >= text.length) return -1
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit
}
