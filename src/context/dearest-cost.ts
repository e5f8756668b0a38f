import type { Rates } from '../../components/model-rates.ts'

/** Most tokens that a model is taken to write in one call where nothing says how many it may. */
export const assumedOutputTokens = 32_000

const million = 1_000_000

/** The most that a call costs with so many tokens, in whole billionths of a US dollar; `undefined` without a price. */
export function dearestCost(
  rates: Rates | undefined,
  { input, output }: { readonly input: number; readonly output: number },
): number | undefined {
  if (rates?.isPriced !== true) return undefined
  const { inputNanoUsdPerMillion, outputNanoUsdPerMillion } = rates
  const cost = Math.ceil((input * inputNanoUsdPerMillion + output * outputNanoUsdPerMillion) / million)
  return Math.min(cost, Number.MAX_SAFE_INTEGER)
}
