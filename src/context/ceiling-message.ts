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
  return `cost ceiling: this ${bound} has spent $${spentUsd.toFixed(4)} of $${limitUsd.toFixed(4)}.`
}
