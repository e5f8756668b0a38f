import type { Fault } from '../../sim/fault.ts'
import type { SimulateOptions } from '../../sim/options.ts'
import type { RangeResult, SeedRange } from './seed-ranges.ts'

/** What a job is to do. */
export type JobOrder =
  | { readonly do: 'sweep'; readonly story: string; readonly range: SeedRange; readonly keepGoing: boolean }
  /** Runs one seed that failed once more, makes the case smaller, and reports. */
  | { readonly do: 'report'; readonly story: string; readonly seed: number }

/** What it says: `ready` once it has loaded the file, and then one answer to each order. */
export type JobAnswer =
  | { readonly did: 'ready' }
  | { readonly did: 'sweep'; readonly result: RangeResult<SimFailure> }
  | { readonly did: 'report'; readonly failure: SimFailure | undefined }
  /** It could not be done. */
  | { readonly did: 'nothing'; readonly message: string }

/** A run that broke a law, as plain data. */
export interface SimFailure {
  readonly seed: number
  readonly law: string
  readonly meaning: string
  readonly message: string
  readonly world: string
  readonly tick: number
  readonly atMs: number
  readonly faults: readonly Fault[]
  /** The smaller case that was found. */
  readonly shrunk?: { readonly faults: readonly Fault[]; readonly latencyMs?: SimulateOptions['latencyMs'] }
  readonly report: string
}
