import { formatUsd, toNanoUsd } from './usd.ts'

/** What is said of a ceiling that was reached, with four decimals. */
export function ceilingMessage({
  bound,
  limitUsd,
  spentUsd,
}: {
  readonly bound: 'turn' | 'session'
  readonly limitUsd: number
  readonly spentUsd: number
}): string {
  return `cost ceiling: this ${bound} has spent ${usd(spentUsd)} of ${usd(limitUsd)}.`
}

function usd(amount: number): string {
  return formatUsd(toNanoUsd(amount))
}
