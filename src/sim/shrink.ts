import { type Fault, isUsual } from './fault.ts'
import type { SimulateOptions } from './options.ts'
import type { ServiceSet } from './service.ts'
import { simulate, type SimulationResult } from './simulate.ts'

/** Bounds of shrinking a failure. */
export interface ShrinkBounds {
  /** @default 200 */
  readonly maxRuns?: number
  /** Real time after which no further run starts, in milliseconds. @default 30000 */
  readonly maxRealMs?: number
}

/** What holds for shrinking where its bounds say nothing. */
export const shrinkDefaults = { maxRuns: 200, maxRealMs: 30_000 } as const

/** A smaller case that breaks the same law. */
export interface ShrunkCase {
  /** The remaining faults, in the order in which they strike. */
  readonly faults: readonly Fault[]
  /** Latencies of the case. `undefined`: those of the run. */
  readonly latencyMs: SimulateOptions['latencyMs']
  readonly result: SimulationResult
  /** Number of runs, including the last one. */
  readonly runs: number
  /** The bound that ended the search, if one did. */
  readonly endedBy: keyof ShrinkBounds | undefined
}

/**
 * Shrinks a run that broke a law to the fewest faults, then the fewest ticks, that break the same law, and confirms the
 * case with one more run.
 * `undefined`: the same faults do not break the law again, so something follows neither from the seed nor from the
 * options.
 */
export async function shrink<S extends ServiceSet = ServiceSet>(
  options: SimulateOptions<S>,
  broken: SimulationResult,
  { maxRuns = shrinkDefaults.maxRuns, maxRealMs = shrinkDefaults.maxRealMs }: ShrinkBounds = {},
): Promise<ShrunkCase | undefined> {
  const shrinking = new Shrinking(options as SimulateOptions, broken, { maxRuns, maxRealMs })
  if (!(await shrinking.isMadeAgain())) return undefined
  await shrinking.dropFaults()
  await shrinking.moveFaults()
  await shrinking.shortenFaults()
  await shrinking.hurry()
  return shrinking.confirmed()
}

type Case = Pick<ShrunkCase, 'faults' | 'latencyMs'>

const hurries: readonly NonNullable<SimulateOptions['latencyMs']>[] = [
  { model: [0, 0], tool: [0, 0] },
  { model: [0, 0] },
  { tool: [0, 0] },
]

class Shrinking {
  readonly #options: SimulateOptions
  readonly #broken: SimulationResult
  readonly #bounds: Required<ShrinkBounds>
  readonly #beganMs = performance.now()
  readonly #tried = new Map<string, boolean>()
  #runs = 0
  #best: SimulationResult
  #latencyMs: SimulateOptions['latencyMs']
  #endedBy: keyof ShrinkBounds | undefined

  constructor(options: SimulateOptions, broken: SimulationResult, bounds: Required<ShrinkBounds>) {
    this.#options = options
    this.#broken = broken
    this.#bounds = bounds
    this.#best = broken
  }

  async isMadeAgain(): Promise<boolean> {
    const again: Case = { faults: this.#broken.faults, latencyMs: undefined }
    this.#best = await this.#run(again)
    const isSame = this.#isSame(this.#best)
    this.#tried.set(JSON.stringify(again), isSame)
    return isSame
  }

  /** Whether a case breaks the same law. The best such case is kept. */
  async breaks({ faults, latencyMs }: Partial<Case>): Promise<boolean> {
    const tried: Case = { faults: faults ?? this.#best.faults, latencyMs: latencyMs ?? this.#latencyMs }
    const key = JSON.stringify(tried)
    const known = this.#tried.get(key)
    if (known !== undefined) return known
    if (this.#isOver()) return false
    const result = await this.#run(tried)
    const isSame = this.#isSame(result)
    this.#tried.set(key, isSame)
    if (isSame && isSmaller(result, this.#best)) {
      this.#best = result
      this.#latencyMs = tried.latencyMs
    }
    return isSame
  }

  async dropFaults(): Promise<void> {
    const { faults } = this.#best
    // No fault at all is the best case, and the usual one for a mistake in a behaviour.
    if (faults.length === 0 || (await this.breaks({ faults: [] }))) return
    // Usual ones are many, and most mistakes need none of them.
    const rare = faults.filter((fault) => !isUsual(fault))
    if (rare.length < faults.length) await this.breaks({ faults: rare })
    const { default: fc } = await import('fast-check')
    const left = this.#best.faults
    // A fault stays what and where it is; only the list gets shorter.
    const lists = fc.array(fc.noShrink(fc.constantFrom(...left)), { maxLength: left.length, size: 'max' })
    const holds = fc.asyncProperty(lists, async (list) => !(await this.breaks({ faults: list })))
    await fc.check(holds, { seed: 1, numRuns: 1, examples: [[[...left]]], endOnFailure: false })
  }

  /**
   * One fault at an earlier place may do what several do, and strikes sooner: try it alone first, then within the list.
   */
  async moveFaults(): Promise<void> {
    const singles = [
      ...new Map(this.#best.faults.map((fault) => [`${fault.what} ${placeOf(fault).kind}`, fault])).values(),
    ]
    for (const fault of singles) {
      for (const at of earlierPlaces(fault)) {
        if (await this.breaks({ faults: [{ ...fault, at }] })) break
      }
    }
    for (const index of this.#best.faults.keys()) {
      const { faults } = this.#best
      const fault = faults[index]
      if (fault === undefined) return
      for (const at of earlierPlaces(fault)) {
        if (await this.breaks({ faults: faults.with(index, { ...fault, at }) })) break
      }
    }
  }

  async shortenFaults(): Promise<void> {
    for (const index of this.#best.faults.keys()) {
      const { faults } = this.#best
      const fault = faults[index]
      if (fault?.ms !== undefined && fault.ms > 1)
        await this.breaks({ faults: faults.with(index, { ...fault, ms: 1 }) })
    }
  }

  /** Removes latencies, except of models and tools that specify their own. */
  async hurry(): Promise<void> {
    for (const hurry of hurries) {
      if (this.#latencyMs === undefined) await this.breaks({ latencyMs: { ...this.#options.latencyMs, ...hurry } })
    }
  }

  async confirmed(): Promise<ShrunkCase | undefined> {
    const { faults } = this.#best
    const latencyMs = this.#latencyMs
    const result = await this.#run({ faults, latencyMs })
    if (!this.#isSame(result) || result.ticks !== this.#best.ticks) return undefined
    return { faults: result.faults, latencyMs, result, runs: this.#runs, endedBy: this.#endedBy }
  }

  #run({ faults, latencyMs }: Case): Promise<SimulationResult> {
    this.#runs++
    const { isKept, seed } = this.#broken
    const store = isKept ? {} : ({ store: 'none' } as const)
    return simulate({ ...this.#options, ...store, seed, faults, ...(latencyMs && { latencyMs }) })
  }

  #isSame(result: SimulationResult): boolean {
    return result.violation?.law === this.#broken.violation?.law
  }

  #isOver(): boolean {
    const { maxRuns, maxRealMs } = this.#bounds
    if (this.#runs + 1 >= maxRuns) this.#endedBy ??= 'maxRuns'
    else if (performance.now() - this.#beganMs >= maxRealMs) this.#endedBy ??= 'maxRealMs'
    return this.#endedBy !== undefined
  }
}

const maxPlaces = 12

function placeOf({ at }: Fault): { readonly kind: string; readonly number: number } {
  const [, kind = at, number = '1'] = /^(.*) (\d+)$/.exec(at) ?? []
  return { kind, number: Number(number) }
}

function earlierPlaces(fault: Fault): string[] {
  const { kind, number } = placeOf(fault)
  const count = Math.min(number, maxPlaces)
  return Array.from({ length: count }, (_, index) => `${kind} ${index + 1}`)
}

function isSmaller(one: SimulationResult, other: SimulationResult): boolean {
  const less = one.faults.length - other.faults.length || one.ticks - other.ticks || one.virtualMs - other.virtualMs
  return less < 0
}
