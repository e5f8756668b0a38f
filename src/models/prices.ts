import type { calcPrice, findProvider } from '@pydantic/genai-prices'
import type { TokenUsage } from '../protocol/usage.ts'
import { EntiaError } from '../world/entia-error.ts'
import { callCost, dearestOf, type DearestRates, type Rates } from '../rules/money/call-cost.ts'
import { parseModel } from '../protocol/model-name.ts'
import { type Price, PriceOverrides } from '../rules/money/price-overrides.ts'

/** What is known of a call's price, and of the model that it went to. What is not known is absent, never 0. */
export interface PricedCall {
  /** In whole billionths of a US dollar. */
  readonly costNanoUsd?: number
  /** In tokens. */
  readonly contextWindow?: number
}

/** By what a price is looked up, besides the model's name. */
export interface PriceLookup {
  /** Unix time in milliseconds: prices change, some with the hour of the day. */
  readonly dateMs: number
  /** Looked at before the price list. @default none */
  readonly overrides?: Readonly<Record<string, Price>> | undefined
}

interface Known {
  readonly rates: Rates
  readonly contextWindow?: number | undefined
}

/** The package, as far as it is used. It comes with its list, asks no network, and is loaded when a price is first asked for. */
interface PriceList {
  readonly calcPrice: typeof calcPrice
  readonly findProvider: typeof findProvider
}

/** So many models are remembered before all are forgotten. */
const maxKnown = 1_000

/**
 * Prices and context windows of models by name: those of a program, then the price list, then what the list lacks. A
 * model that is in none of them, such as one that runs on this machine, has no price.
 */
export class Prices {
  readonly #overrides: PriceOverrides
  /** What was looked up last, and for which minute: the list knows no shorter times. */
  readonly #known = new Map<string, { readonly minute: number; readonly known: Known }>()

  readonly #isListed: (provider: string) => boolean

  /**
   * @param isListed may the price list know a provider's models? It is not even loaded for those that it cannot know
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

  /** What a call cost that used so many tokens, and the window of its model. At once, unless the price list is to be loaded. */
  priced(model: string, usage: TokenUsage, dateMs: number): PricedCall | Promise<PricedCall> {
    const known = this.#lookUp(model, dateMs)
    return known instanceof Promise ? known.then((found) => pricedBy(found, usage)) : pricedBy(known, usage)
  }

  /** The most that a token may cost; unknown for a model without a price. */
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
 * What a call of a model, `provider/model`, cost at that time, and the model's context window.
 *
 * @throws `invalid-argument`
 */
export async function priced(model: string, usage: TokenUsage, lookup: PriceLookup): Promise<PricedCall> {
  return new Prices(lookup.overrides).priced(model, usage, lookup.dateMs)
}

/**
 * The most that a token of a model may cost at that time; `undefined` for a model without a price.
 *
 * @throws `invalid-argument`
 */
export async function ratesOf(model: string, lookup: PriceLookup): Promise<DearestRates | undefined> {
  return new Prices(lookup.overrides).rates(model, lookup.dateMs)
}

/**
 * The context window of a model in tokens, if that is known.
 *
 * @throws `invalid-argument`
 */
export async function contextWindowOf(
  model: string,
  { overrides }: Pick<PriceLookup, 'overrides'> = {},
): Promise<number | undefined> {
  return new Prices(overrides).contextWindow(model)
}

/** Loads the price list ahead of its first use, which takes some tens of milliseconds of real time. */
export async function loadPrices(): Promise<void> {
  await priceList()
}

let loading: Promise<PriceList> | undefined
let loaded: PriceList | undefined

function priceList(): Promise<PriceList> {
  return (loading ??= import('@pydantic/genai-prices').then((list) => (loaded = list)))
}

const unlisted: Known = { rates: {} }

/** Is that a name by which real models are known, though something else may go by it? */
export function isMakersName(provider: string): boolean {
  return provider === 'anthropic' || provider === 'openai' || namesInList.has(provider)
}

/** Providers that the list calls otherwise. A provider that neither has is not guessed at. */
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
  /** The day on which the source said so. */
  readonly readOn: string
}

/** What the list lacks, by its own names of provider and model. What no source says has no place here. */
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

/** What was looked up in the list last, by name and for which minute: it is the same for all Hosts of the process. */
const lookedUp = new Map<string, { readonly minute: number; readonly listed: Known }>()

function listedAt(list: PriceList, name: string, dateMs: number): Known {
  const last = lookedUp.get(name)
  if (last?.minute === minuteOf(dateMs)) return last.listed
  const listed = listedIn(list, name, instant(dateMs))
  if (lookedUp.size >= maxKnown) lookedUp.clear()
  lookedUp.set(name, { minute: minuteOf(dateMs), listed })
  return listed
}

/** What the list and its supplement know of a model. A name without a provider is looked for among those that make models. */
function listedIn({ calcPrice, findProvider }: PriceList, name: string, timestamp: Date): Known {
  const { provider: named, model } = parseModel(name)
  const wanted = model === name ? undefined : (namesInList.get(named) ?? named)
  const provider = findProvider(wanted === undefined ? { modelId: model } : { providerId: wanted })
  // The list takes names for a provider's that only contain its name.
  if (provider === undefined || (wanted !== undefined && provider.id !== wanted)) return { rates: {} }
  // Only its rates are taken: it adds up in floating point, and throws where counts of a provider contradict each other.
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

/** Rates of a program over those of the list. Where it has a rate of its own, those that go by that one do so. */
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

/** The latest instant that a date can be, in milliseconds from 1970. */
const LATEST_MS = 8.64e15

function instant(dateMs: number): Date {
  if (Math.abs(dateMs) <= LATEST_MS) return new Date(dateMs)
  throw new EntiaError('invalid-argument', `Prices: dateMs must be Unix time in milliseconds, got ${dateMs}.`)
}
