const grouped = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** `1,234`. */
export function numberText(count: number): string {
  return grouped.format(count)
}

/** `1.2K`; what is not known is a dash. */
export function shortNumberText(count: number | undefined): string {
  return count === undefined ? '–' : short.format(count)
}

/** `240 ms`, `1.2 s`, `2 min 5 s`, `3 h 4 min`. */
export function durationText(ms: number): string {
  // Rounded down, since 999.6 ms are neither 1000 ms nor a second, and 119.9 s no `1 min 60 s`.
  if (ms < 1_000) return `${Math.floor(ms)} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** `now`, `5 s ago`, `3 h ago`. */
export function agoText(ms: number): string {
  const [size, unit] = units.find(([least]) => ms >= least) ?? [0, '']
  return size === 0 ? 'now' : `${Math.floor(ms / size)} ${unit} ago`
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

/** `$0.0123`, from billionths of a dollar, all of which are shown of very little; what has no price is a dash. */
export function moneyText(nanoUsd: number | undefined): string {
  if (nanoUsd === undefined) return '–'
  const usd = nanoUsd / 1e9
  if (usd === 0) return '$0'
  if (usd < 1e-6) return `$${usd.toFixed(9)}`
  return usd < 0.01 ? `$${usd.toPrecision(2)}` : `$${usd.toFixed(usd < 1 ? 3 : 2)}`
}

export function dateText(dateMs: number): string {
  return `${day.format(dateMs)}, ${time.format(dateMs)}`
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`
}
