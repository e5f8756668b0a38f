import type { Chance, Range } from './chance.ts'
import {
  checkFault,
  checkSites,
  type Fault,
  type FaultName,
  type FaultRates,
  faultNames,
  type FaultSite,
  ratesAt,
} from './fault.ts'

/** The event loop is busy for so long at most, in milliseconds. */
export const maxBusyMs = 50

/** How long faults with a duration last, in milliseconds of world time. */
const lasting: { readonly [N in FaultName]?: Range } = {
  'model.rateLimitedFor': [200, 20_000],
  'tool.slow': [5_000, 60_000],
  'delivery.late': [1_000, 30_000],
  'delivery.reordered': [1, 2_000],
  'store.full': [100, 3_000],
  'store.slow': [1, 200],
  'loop.busy': [1, maxBusyMs],
  'process.pause': [500, 40_000],
  'net.cut': [100, 40_000],
  'net.unknown': [10, 5_000],
  'net.late': [50, 5_000],
  'dispatch.late': [100, 20_000],
  // From an hour behind to an hour ahead.
  'clock.skew': [0, 7_200_000],
}

/**
 * Which faults strike a run: drawn from the seed at each place, or listed. The faults that struck form the list that
 * reproduces the run.
 */
export class FaultPlan {
  readonly #chance: Chance
  readonly #rates: FaultRates | undefined
  readonly #listed = new Map<string, Fault[]>()
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #bySite = new Map<FaultSite, readonly (readonly [FaultName, number])[]>()
  readonly #struck: Fault[] = []
  /** No drawn fault strikes: whether a run has come to rest is judged on a healed net. */
  isQuiet = false

  /**
   * @param usual holds where the given rates say nothing
   * @throws `invalid-argument`
   */
  constructor(chance: Chance, faults: FaultRates | readonly Fault[], usual: FaultRates = {}) {
    this.#chance = chance
    if (!isList(faults)) checkSites(faults)
    this.#rates = isList(faults) ? undefined : withUsual(faults, usual)
    for (const fault of isList(faults) ? faults : []) {
      checkFault(fault)
      this.#listed.set(fault.at, [...(this.#listed.get(fault.at) ?? []), fault])
    }
    for (const site of Object.keys(faultNames) as FaultSite[]) {
      if (this.#rates !== undefined) this.#bySite.set(site, ratesAt(this.#rates, site))
    }
  }

  /** Faults are drawn, not listed: one that changes nothing need not strike. */
  get isDrawn(): boolean {
    return this.#rates !== undefined
  }

  get struck(): readonly Fault[] {
    return this.#struck
  }

  get missed(): readonly Fault[] {
    const isStruck = (fault: Fault): boolean =>
      this.#struck.some(({ what, at }) => what === fault.what && at === fault.at)
    return [...this.#listed.values()].flat().filter((fault) => !isStruck(fault))
  }

  /** How far the run got among places of this kind, in words. */
  reached(at: string): string {
    const [, owner = '', kind = ''] = /^(.*) (\S+) \d+$/.exec(at) ?? []
    const count = this.#counts.get(owner)?.get(kind) ?? 0
    return count === 0 ? `and reached no place '${owner} ${kind}'` : `and came to '${owner} ${kind} ${count}' at most`
  }

  has(site: FaultSite): boolean {
    if (this.#rates !== undefined) return (this.#bySite.get(site) ?? []).length > 0
    return [...this.#listed.values()].flat().some(({ what }) => what.startsWith(`${site}.`))
  }

  /** The next place of a kind, such as `team tool 3`. */
  next(owner: string, kind: string): string {
    let counts = this.#counts.get(owner)
    if (counts === undefined) this.#counts.set(owner, (counts = new Map()))
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return `${owner} ${kind} ${count}`
  }

  /**
   * The fault that strikes here, if any fits; it is recorded as struck.
   * @param lastsMs how long, where the list does not say. @default drawn, if it has a duration
   */
  strike(
    site: FaultSite,
    at: string,
    fits: (what: FaultName, ms: number) => boolean = () => true,
    lastsMs?: number,
  ): Fault | undefined {
    const found = this.#rates === undefined ? this.#listedAt(site, at) : this.#drawn(site, at)
    if (found === undefined) return undefined
    const range = lasting[found.what]
    const ms = found.ms ?? lastsMs ?? (range && this.#chance.within(range, `${at} lasts`))
    const fault = ms === undefined ? found : { ...found, ms }
    if (!fits(fault.what, fault.ms ?? 0)) return undefined
    this.#struck.push(fault)
    return fault
  }

  #listedAt(site: FaultSite, at: string): Fault | undefined {
    return this.#listed.get(at)?.find(({ what }) => what.startsWith(`${site}.`))
  }

  #drawn(site: FaultSite, at: string): Fault | undefined {
    const rates = this.#bySite.get(site) ?? []
    if (rates.length === 0 || this.isQuiet) return undefined
    // `people` is the old name of `users`; keeping it here keeps old seeds reproducible.
    let left = this.#chance.of(`${site === 'users' ? 'people' : site} fault at ${at}`)
    for (const [what, rate] of rates) {
      if (left < rate) return { what, at }
      left -= rate
    }
    return undefined
  }
}

function withUsual(rates: FaultRates, { latency, loop, store }: FaultRates): FaultRates {
  return {
    ...rates,
    latency: { ...latency, ...rates.latency },
    loop: { ...loop, ...rates.loop },
    store: { ...store, ...rates.store },
  }
}

export function isList(faults: FaultRates | readonly Fault[]): faults is readonly Fault[] {
  return Array.isArray(faults)
}
