import { oncePerValue } from '../once-per.ts'
import type { TokenUsage } from '../../protocol/usage.ts'
import type { CachePrice } from '../../../components/context/last-call.ts'
import type { ModelReply } from '../../models/port.ts'

/** US dollars per million tokens. The tier with the highest `start` below the prompt's tokens applies. */
export type Rate =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] }

/** A model's prices. An absent rate is unknown. */
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

/** A model's highest prices, in US dollars per million tokens. */
export interface DearestRates {
  /** Of a prompt token, whether read from the cache, written to it, or neither. */
  readonly inputUsdPerMillion: number
  readonly outputUsdPerMillion: number
}

/**
 * A call's cost in whole billionths of a US dollar, rounded half up. Unreported counts add nothing. Unknown without
 * both rates, input and output, or without both counts.
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

type Part = readonly [tokens: number, usdPerMillion: number]

/** In plain numbers where they are exact, as mostly: several times as fast. */
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

/** The highest rates for any prompt size; unknown for a model without a price. */
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

/** Providers may send anything: an invalid count is 0. */
function count(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? Math.trunc(Math.min(tokens, Number.MAX_SAFE_INTEGER)) : 0
}

/** Most rates have no more digits and are no higher: a token costs a whole number of trillionths of a dollar. */
const PLAIN_RATE = { perUsd: 1_000_000, most: 1_000 }
const PICO_PER_NANO_USD = 1_000
/** Up to it sums of trillionths, and rounding their thousandths, are exact. */
const MOST_PICO_USD = 2 ** 50

/** A token's exact cost in trillionths of a US dollar; NaN if the rate has more digits. */
function picoUsd(usdPerMillion: number): number {
  const { perUsd, most } = PLAIN_RATE
  const pico = Math.round(usdPerMillion * perUsd)
  return pico / perUsd === usdPerMillion && pico >= 0 && usdPerMillion <= most ? pico : NaN
}

const RATE_DIGITS = 12
/** A rate as an integer of 10⁻¹² dollars per million tokens, so that sums are exact. */
const scaled = oncePerValue((usdPerMillion: number) => BigInt(usdPerMillion.toFixed(RATE_DIGITS).replace('.', '')))

/** Scaled units in a billionth of a dollar. */
const PER_NANO_USD = 10n ** 9n
const MOST_NANO_USD = BigInt(Number.MAX_SAFE_INTEGER)

/** A model's reply as it enters a World: with its cost and its model's window, if known. */
export type PricedReply = ModelReply & {
  readonly cachePrice?: CachePrice
  /** In tokens. */
  readonly contextWindow?: number
  readonly costNanoUsd?: number
}
