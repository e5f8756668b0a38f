/** Compares by code points, the same on every machine. */
export function byCodePoint(a: string, b: string): number {
  let index = 0
  while (index < a.length && a.charCodeAt(index) === b.charCodeAt(index)) index++
  return rank(a, index) - rank(b, index)
}

/** Surrogates rank above other units. */
function rank(text: string, index: number): number {
  if (index >= text.length) return -1
  const unit = text.charCodeAt(index)
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit
}
