import { EntiaError } from '../../base/entia-error.ts'
import { shortly } from '../../base/known-options.ts'
import { parseModel } from '../../protocol/model-name.ts'

/**
 * A model's price in US dollars per million tokens, and its context window. Missing values come from the price list;
 * missing cache rates only if the rate they default to is missing too.
 */
export interface Price {
  readonly input?: number | undefined
  /** @default `input`, if given */
  readonly cacheRead?: number | undefined
  /** @default `input`, if given */
  readonly cacheWrite?: number | undefined
  /** Of entries that the cache keeps for an hour. @default `cacheWrite`, if given or derived from `input` */
  readonly cacheWrite1h?: number | undefined
  readonly output?: number | undefined
  /** In tokens. */
  readonly contextWindow?: number | undefined
}

/** A program's prices, by the case-insensitive name of a model or its beginning. */
export class PriceOverrides {
  readonly #byName = new Map<string, Price>()

  /**
   * @param where names the owner in messages
   * @throws `invalid-argument`
   */
  constructor(prices: Readonly<Record<string, Price>>, where: string) {
    checkPrices(prices, where)
    for (const [model, price] of Object.entries(prices)) this.#byName.set(model.toLowerCase(), { ...price })
  }

  /** The price under `provider/model`, else the model's name, else the longest beginning of either. */
  of(model: string): Price | undefined {
    const whole = model.toLowerCase()
    const { model: name } = parseModel(whole)
    return this.#byName.get(whole) ?? this.#byName.get(name) ?? this.#longest(name) ?? this.#longest(whole)
  }

  #longest(name: string): Price | undefined {
    let longest = ''
    for (const known of this.#byName.keys()) {
      if (known.length > longest.length && name.startsWith(known)) longest = known
    }
    return this.#byName.get(longest)
  }
}

/** A dollar a token: more than any provider asks, and sums stay exact. */
const MAX_USD_PER_MILLION = 1_000_000

const rateNames: readonly string[] = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output']

/**
 * @param where names the owner in messages
 * @throws `invalid-argument` for invalid prices
 */
export function checkPrices(prices: Readonly<Record<string, Price>>, where: string): void {
  for (const [model, price] of Object.entries(prices)) check(where, model, price)
}

function check(where: string, model: string, price: Price): void {
  const place = `${where}: prices['${model}']`
  if (model === '')
    throw misuse(`${where}: each key of prices must be a model's name or a prefix of one, got ''.`, model)
  if (typeof price !== 'object' || price === null) {
    throw misuse(
      `${place} must be an object with any of ${rateNames.join(', ')}, contextWindow, got ${shortly(price)}.`,
      model,
    )
  }
  for (const [field, value] of Object.entries(price) as [string, number | undefined][]) {
    if (value === undefined) continue
    if (field === 'contextWindow') {
      if (Number.isSafeInteger(value) && value >= 1) continue
      throw misuse(`${place}.${field} must be an integer ≥ 1 (tokens), got ${shortly(value)}.`, model, field)
    }
    if (!rateNames.includes(field)) {
      const known = `Known: ${rateNames.join(', ')}, contextWindow`
      throw misuse(`${place} has no field '${field}'. ${known}. Check the spelling.`, model, field)
    }
    if (typeof value === 'number' && value >= 0 && value <= MAX_USD_PER_MILLION) continue
    const expected = `a number of US dollars per million tokens, from 0 to ${MAX_USD_PER_MILLION}`
    throw misuse(`${place}.${field} must be ${expected}, got ${shortly(value)}.`, model, field)
  }
}

function misuse(message: string, model: string, field?: string): EntiaError {
  return new EntiaError('invalid-argument', message, { model, ...(field !== undefined && { field }) })
}
