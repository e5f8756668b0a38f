import type { calcPrice, findProvider } from '@pydantic/genai-prices'
import type { TokenUsage } from '../protocol/usage.ts'
import { EntiaError } from '../base/entia-error.ts'
import { callCost, dearestOf, type DearestRates, type Rates } from '../rules/money/call-cost.ts'
import { parseModel } from '../protocol/model-name.ts'
import { type Price, PriceOverrides } from '../rules/money/price-overrides.ts'

/** Unknown values are absent, never 0. */
export interface PricedCall {
  readonly costNanoUsd?: number
  /** In tokens. */
  readonly contextWindow?: number
}

/** By what a price is looked up, besides the model's name. */
export interface PriceLookup {
  /** Unix time: prices change, some with the hour of the day. */
  readonly dateMs: number
  /** Override the price list. @default none */
  readonly overrides?: Readonly<Record<string, Price>> | undefined
}

interface Known {
  readonly rates: Rates
  readonly contextWindow?: number | undefined
}

/** The package brings its list, uses no network, and is loaded at the first use. */
interface PriceList {
  readonly calcPrice: typeof calcPrice
  readonly findProvider: typeof findProvider
}

/** The cache is cleared at this size. */
const maxKnown = 1_000

/**
 * Prices and context windows by model: overrides, then the price list, then its supplement. Others, such as local models, have
 * no price.
 */
export class Prices {
  readonly #overrides: PriceOverrides
  /** Cached per minute, the list's resolution. */
  readonly #known = new Map<string, { readonly minute: number; readonly known: Known }>()

  readonly #isListed: (provider: string) => boolean

  /**
   * @param isListed `false` skips the price list for a provider, without loading it
   * @throws `invalid-argument`
   */
  constructor(
    overrides: Readonly<Record<string, Price>> = {},
    where = 'Prices',
    isListed: (provider: string) => boolean = () => true,
  ) {
    this.#overrides = new PriceOverrides(overrides, where)
    this.#isListed = isListed
  }

  /** Synchronous, unless the price list must be loaded. */
  priced(model: string, usage: TokenUsage, dateMs: number): PricedCall | Promise<PricedCall> {
    const known = this.#lookUp(model, dateMs)
    return known instanceof Promise ? known.then((found) => pricedBy(found, usage)) : pricedBy(known, usage)
  }

  /** The highest rates per token; `undefined` without a price. */
  async rates(model: string, dateMs: number): Promise<DearestRates | undefined> {
    return dearestOf((await this.#lookUp(model, dateMs)).rates)
  }

  /** In tokens. */
  async contextWindow(model: string): Promise<number | undefined> {
    return (await this.#lookUp(model, 0)).contextWindow
  }

  #lookUp(model: string, dateMs: number): Known | Promise<Known> {
    const last = this.#known.get(model)
    if (last?.minute === minuteOf(dateMs)) return last.known
    if (!this.#isListed(parseModel(model).provider)) return this.#learn(model, dateMs, unlisted)
    const learn = (list: PriceList): Known => this.#learn(model, dateMs, listedAt(list, model.toLowerCase(), dateMs))
    return loaded === undefined ? priceList().then(learn) : learn(loaded)
  }

  #learn(model: string, dateMs: number, listed: Known): Known {
    const own = this.#overrides.of(model)
    const known = { rates: ratesOver(listed.rates, own), contextWindow: own?.contextWindow ?? listed.contextWindow }
    if (this.#known.size >= maxKnown) this.#known.clear()
    this.#known.set(model, { minute: minuteOf(dateMs), known })
    return known
  }
}

function minuteOf(dateMs: number): number {
  return Math.floor(dateMs / 60_000)
}

function pricedBy({ contextWindow, rates }: Known, usage: TokenUsage): PricedCall {
  const costNanoUsd = callCost(usage, rates)
  return {
    ...(costNanoUsd !== undefined && { costNanoUsd }),
    ...(contextWindow !== undefined && { contextWindow }),
  }
}

/**
 * @param model `provider/model`
 * @throws `invalid-argument`
 */
export async function priced(model: string, usage: TokenUsage, lookup: PriceLookup): Promise<PricedCall> {
  return new Prices(lookup.overrides).priced(model, usage, lookup.dateMs)
}

/** The highest rates per token; `undefined` without a price. @throws `invalid-argument` */
export async function ratesOf(model: string, lookup: PriceLookup): Promise<DearestRates | undefined> {
  return new Prices(lookup.overrides).rates(model, lookup.dateMs)
}

/** In tokens; `undefined` if unknown. @throws `invalid-argument` */
export async function contextWindowOf(
  model: string,
  { overrides }: Pick<PriceLookup, 'overrides'> = {},
): Promise<number | undefined> {
  return new Prices(overrides).contextWindow(model)
}

/** Preloads the price list, which takes tens of milliseconds. */
export async function loadPrices(): Promise<void> {
  await priceList()
}

let loading: Promise<PriceList> | undefined
let loaded: PriceList | undefined

function priceList(): Promise<PriceList> {
  return (loading ??= import('@pydantic/genai-prices').then((list) => (loaded = list)))
}

const unlisted: Known = { rates: {} }

/** Is this the name of a real provider? */
export function isMakersName(provider: string): boolean {
  return provider === 'anthropic' || provider === 'openai' || namesInList.has(provider)
}

/** Our names to the list's. Unknown providers are not guessed. */
const namesInList: ReadonlyMap<string, string> = new Map([
  ['bedrock', 'aws'],
  ['copilot', 'github-copilot'],
  ['gemini', 'google'],
  ['kimi', 'moonshotai'],
  ['moonshot', 'moonshotai'],
  ['together-ai', 'together'],
  ['vertex', 'google'],
  ['voyage', 'voyageai'],
  ['xai', 'x-ai'],
  ['zhipu', 'zhipuai'],
])

interface Supplement {
  readonly contextWindow: number
  readonly source: string
  /** When the source was read. */
  readonly readOn: string
}

/** What the list lacks, by its names of provider and model. Only with a source. */
const supplements: ReadonlyMap<string, Supplement> = new Map([
  [
    'google/gemini-2.5-pro',
    {
      contextWindow: 1_048_576,
      source: 'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/2-5-pro',
      readOn: '2026-11-22',
    },
  ],
  ...['google/gemini-3-pro', 'google/gemini-3-pro-preview'].map((name): [string, Supplement] => [
    name,
    {
      contextWindow: 1_048_576,
      source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-pro',
      readOn: '2026-11-22',
    },
  ]),
  [
    'google/gemini-3.1-pro-preview',
    {
      contextWindow: 1_048_576,
      source: 'https://ai.google.dev/gemini-api/docs/models/gemini-3.1-pro-preview.md.txt',
      readOn: '2026-11-22',
    },
  ],
])

/** Cached per minute, for all Hosts of the process. */
const lookedUp = new Map<string, { readonly minute: number; readonly listed: Known }>()

function listedAt(list: PriceList, name: string, dateMs: number): Known {
  const last = lookedUp.get(name)
  if (last?.minute === minuteOf(dateMs)) return last.listed
  const listed = listedIn(list, name, instant(dateMs))
  if (lookedUp.size >= maxKnown) lookedUp.clear()
  lookedUp.set(name, { minute: minuteOf(dateMs), listed })
  return listed
}

/** A name without a provider is searched among the makers of models. */
function listedIn({ calcPrice, findProvider }: PriceList, name: string, timestamp: Date): Known {
  const { provider: named, model } = parseModel(name)
  const wanted = model === name ? undefined : (namesInList.get(named) ?? named)
  const provider = findProvider(wanted === undefined ? { modelId: model } : { providerId: wanted })
  // The list also matches names that contain a provider's.
  if (provider === undefined || (wanted !== undefined && provider.id !== wanted)) return { rates: {} }
  // Only rates are used: its sums are in floating point, and it throws on contradictory counts.
  const found = calcPrice({}, model, { providerId: provider.id, timestamp })
  const supplement = supplements.get(`${provider.id}/${found?.model.id ?? model}`)
  const { input_mtok, cache_read_mtok, cache_write_mtok, cache_write_1h_mtok, output_mtok } = found?.model_price ?? {}
  return {
    rates: {
      input: input_mtok,
      cacheRead: cache_read_mtok,
      cacheWrite: cache_write_mtok,
      cacheWrite1h: cache_write_1h_mtok,
      output: output_mtok,
    },
    contextWindow: found?.model.context_window ?? supplement?.contextWindow,
  }
}

/** Overrides take precedence, also over list rates that derive from an overridden one. */
function ratesOver(listed: Rates, own: Price | undefined): Rates {
  if (own === undefined) return listed
  const readAndWrite = own.input === undefined ? listed : {}
  const writeForAnHour = own.cacheWrite === undefined ? readAndWrite : {}
  return {
    input: own.input ?? listed.input,
    cacheRead: own.cacheRead ?? readAndWrite.cacheRead,
    cacheWrite: own.cacheWrite ?? readAndWrite.cacheWrite,
    cacheWrite1h: own.cacheWrite1h ?? writeForAnHour.cacheWrite1h,
    output: own.output ?? listed.output,
  }
}

/** The range of `Date`. */
const LATEST_MS = 8.64e15

function instant(dateMs: number): Date {
  if (Math.abs(dateMs) <= LATEST_MS) return new Date(dateMs)
  throw new EntiaError('invalid-argument', `Prices: dateMs must be Unix time in milliseconds, got ${dateMs}.`)
}
