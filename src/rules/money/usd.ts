/** Billionths in a US dollar. */
const nanoUsd = 1_000_000_000
const digits = 9
/** Four million dollars. The sum of two such amounts is still an exact integer. */
const maxNanoUsd = 4e15

/** US dollars in whole billionths, at most four million dollars. */
export function toNanoUsd(usd: number): number {
  return Math.min(maxNanoUsd, Math.round(usd * nanoUsd))
}

export function toUsd(nano: number): number {
  return nano / nanoUsd
}

/**
 * An amount as people read it: `$0.1500`, `$12.00`. Rounded half up, by whole numbers alone.
 *
 * @param nano in whole billionths of a US dollar, 0 or more
 * @param decimals @default 4
 */
export function formatUsd(nano: number, decimals = 4): string {
  const unit = 10 ** (digits - decimals)
  const rounded = Math.floor((nano + unit / 2) / unit)
  const text = String(rounded).padStart(decimals + 1, '0')
  return decimals === 0 ? `$${text}` : `$${text.slice(0, -decimals)}.${text.slice(-decimals)}`
}
