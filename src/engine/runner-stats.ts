/** Counts since the Runner started. */
export interface RunnerStats {
  readonly ticks: number
  /** Outcomes that came too late, and inputs that came twice. */
  readonly dropped: number
  readonly inFlight: number
}
