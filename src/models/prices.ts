import type { TokenUsage } from '../../components/usage.ts'

/** What a model costs, in US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** @default that of input */
  readonly cacheRead?: number | undefined
  /** @default that of input */
  readonly cacheWrite?: number | undefined
}

/** Billionths of a dollar in a millionth. */
const nanoPerMicro = 1_000

/** What one call cost, in whole billionths of a US dollar. What the provider did not say costs nothing. */
export function costNanoUsd(usage: TokenUsage, price: Price): number {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage
  const { cacheRead: readPrice = price.input, cacheWrite: writePrice = price.input } = price
  const microUsd = input * price.input + cacheRead * readPrice + cacheWrite * writePrice + output * price.output
  return Math.round(microUsd * nanoPerMicro)
}
