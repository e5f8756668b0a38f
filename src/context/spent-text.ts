/** Money that was spent, with four decimals; `at least`, where calls without a price are among it. */
export function spentText(costUsd: number, unpricedCalls: number): string {
  return `${unpricedCalls > 0 ? 'at least ' : ''}$${costUsd.toFixed(4)}`
}
