const grouped = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** `1,234`. */
export function numberText(count: number): string {
  return grouped.format(count)
}

/** `1.2K`. */
export function shortNumberText(count: number): string {
  return short.format(count)
}

/** `1 step`, `1,234 steps`. */
export function many(count: number, noun: string): string {
  return `${grouped.format(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** `1.2 s`, `2 min 5 s`. */
export function durationText(durationMs: number): string {
  if (durationMs < 60_000) return `${(durationMs / 1_000).toFixed(1)} s`
  const seconds = Math.round(durationMs / 1_000)
  return `${grouped.format(Math.floor(seconds / 60))} min ${seconds % 60} s`
}
