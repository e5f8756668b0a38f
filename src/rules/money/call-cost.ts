import { oncePerValue } from '../once-per.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import type { CachePrice } from '../../../components/context/last-call.ts'
import type { ModelReply } from '../../models/port.ts'

/** US dollars per million tokens. Of the tiers, the one with the highest `start` below the tokens of the prompt counts. */
export type Rate =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] }

/** What tokens of a model cost. A rate that is absent is not known. */
export interface Rates {
  readonly input?: Rate | undefined
  /** @default that of input */
  readonly cacheRead?: Rate | undefined
  /** @default that of input */
  readonly cacheWrite?: Rate | undefined
  /** @default that of cache writes */
  readonly cacheWrite1h?: Rate | undefined
  readonly output?: Rate | undefined
}

/** The most that a token of a model may cost, in US dollars per million tokens. */
export interface DearestRates {
  /** Of a token of the prompt, whether it is read from the cache, written to it, or neither. */
  readonly inputUsdPerMillion: number
  readonly outputUsdPerMillion: number
}

/**
 * What one call cost, in whole billionths of a US dollar, rounded half up. What the provider did not say adds nothing.
 * Unknown without a rate of input and one of output, and where the provider said neither count.
 */
export function callCost(usage: TokenUsage, rates: Rates): number | undefined {
  const { input, output } = rates
  if (input === undefined || output === undefined) return undefined
  if (usage.input === undefined && usage.output === undefined) return undefined
  const { cacheRead = input, cacheWrite = input, cacheWrite1h = cacheWrite } = rates
  const fresh = count(usage.input)
  const read = count(usage.cacheRead)
  const written = count(usage.cacheWrite)
  const writtenForAnHour = Math.min(count(usage.cacheWrite1h), written)
  const promptTokens = fresh + read + written
  const parts: Part[] = [
    [fresh, at(input, promptTokens)],
    [read, at(cacheRead, promptTokens)],
    [written - writtenForAnHour, at(cacheWrite, promptTokens)],
    [writtenForAnHour, at(cacheWrite1h, promptTokens)],
    [count(usage.output), at(output, promptTokens)],
  ]
  return plainCost(parts) ?? exactCost(parts)
}

/** So many tokens at so many US dollars per million. */
type Part = readonly [tokens: number, usdPerMillion: number]

/** In plain numbers, where these are exact: several times as fast, and mostly they are. */
function plainCost(parts: readonly Part[]): number | undefined {
  let sum = 0
  for (const [tokens, usdPerMillion] of parts) sum += tokens === 0 ? 0 : tokens * picoUsd(usdPerMillion)
  return sum <= MOST_PICO_USD ? Math.floor((sum + PICO_PER_NANO_USD / 2) / PICO_PER_NANO_USD) : undefined
}

function exactCost(parts: readonly Part[]): number {
  let sum = 0n
  for (const [tokens, usdPerMillion] of parts) if (tokens > 0) sum += BigInt(tokens) * scaled(usdPerMillion)
  const nanoUsd = (sum + PER_NANO_USD / 2n) / PER_NANO_USD
  return nanoUsd > MOST_NANO_USD ? Number(MOST_NANO_USD) : Number(nanoUsd)
}

/** The dearest rates that a call may meet, whatever the size of its prompt; unknown for a model without a price. */
export function dearestOf({ input, output, ...cached }: Rates): DearestRates | undefined {
  if (input === undefined || output === undefined) return undefined
  const known = [input, ...Object.values(cached)].filter((rate) => rate !== undefined)
  return { inputUsdPerMillion: Math.max(...known.map(dearest)), outputUsdPerMillion: dearest(output) }
}

function dearest(rate: Rate): number {
  return typeof rate === 'number' ? rate : Math.max(rate.base, ...rate.tiers.map(({ price }) => price))
}

function at(rate: Rate, promptTokens: number): number {
  if (typeof rate === 'number') return rate
  const reached = rate.tiers.filter(({ start }) => promptTokens > start)
  return reached.reduce((best, tier) => (tier.start > best.start ? tier : best), { start: -1, price: rate.base }).price
}

/** Providers say what they like: what is no count of tokens counts as none. */
function count(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? Math.trunc(Math.min(tokens, Number.MAX_SAFE_INTEGER)) : 0
}

/** Most rates have no more digits, and are no higher: then a token costs a whole number of trillionths of a dollar. */
const PLAIN_RATE = { perUsd: 1_000_000, most: 1_000 }
const PICO_PER_NANO_USD = 1_000
/** Up to it sums of trillionths are exact, and so is the rounding of their thousandths. */
const MOST_PICO_USD = 2 ** 50

/** What a token costs in trillionths of a US dollar, which is exact; not a number if the rate has more digits. */
function picoUsd(usdPerMillion: number): number {
  const { perUsd, most } = PLAIN_RATE
  const pico = Math.round(usdPerMillion * perUsd)
  return pico / perUsd === usdPerMillion && pico >= 0 && usdPerMillion <= most ? pico : NaN
}

const RATE_DIGITS = 12
/** A rate as an integer of 10⁻¹² dollars per million tokens, so that sums of many tokens are exact. */
const scaled = oncePerValue((usdPerMillion: number) => BigInt(usdPerMillion.toFixed(RATE_DIGITS).replace('.', '')))

/** Scaled rates of single tokens in a billionth of a dollar. */
const PER_NANO_USD = 10n ** 9n
const MOST_NANO_USD = BigInt(Number.MAX_SAFE_INTEGER)

/** A model's reply as it enters a World: with what it cost, and what its model's window holds, as far as that is known. */
export type PricedReply = ModelReply & {
  readonly cachePrice?: CachePrice
  /** In tokens. */
  readonly contextWindow?: number
  readonly costNanoUsd?: number
}
