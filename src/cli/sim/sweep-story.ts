import { untilAborted } from '../../base/until-aborted.ts'
import type { Job, SimFailure } from './jobs.ts'
import { SeedRanges, type Tally } from './seed-ranges.ts'
import type { SimArguments } from './sim-arguments.ts'

export interface StorySweep {
  readonly story: string
  readonly seeds: number
  readonly tally: Tally
  /** Of the lowest failed seed. */
  readonly failure: SimFailure | undefined
  readonly realMs: number
  readonly isStopped: boolean
  /** What it does besides running seeds. */
  readonly doing?: string
}

export interface SweepParts extends Pick<SimArguments, 'seeds' | 'from' | 'keepGoing'> {
  readonly jobs: readonly Job[]
  /** Ends the sweep with the results so far. */
  readonly signal: AbortSignal
  readonly onProgress: (sweep: StorySweep) => void
}

/** Shares the seeds of a story among jobs. */
export async function sweepStory(story: string, parts: SweepParts): Promise<StorySweep> {
  const { seeds, from, keepGoing, jobs, signal, onProgress } = parts
  const ranges = new SeedRanges<SimFailure>({ from, seeds, keepGoing })
  const beganMs = performance.now()
  const soFar = (): StorySweep => {
    const realMs = performance.now() - beganMs
    return { story, seeds, tally: ranges.tally, failure: ranges.failure, realMs, isStopped: signal.aborted }
  }
  const work = async (job: Job): Promise<void> => {
    let msARun: number | undefined
    for (let range = ranges.next(msARun); range !== undefined && !signal.aborted; range = ranges.next(msARun)) {
      const startMs = performance.now()
      const doing = `ran seeds ${range.from} to ${range.from + range.seeds - 1}`
      const answer = await job.ask({ do: 'sweep', story, range, keepGoing }, doing)
      if (answer.did !== 'sweep') continue
      msARun = (performance.now() - startMs) / Math.max(1, answer.result.tally.runs)
      ranges.done(range, answer.result)
      onProgress(soFar())
    }
  }
  onProgress(soFar())
  await untilAborted(Promise.all(jobs.map(work)), signal)
  const swept = soFar()
  const [job] = jobs
  if (swept.failure === undefined || job === undefined || swept.isStopped) return swept
  const { seed } = swept.failure
  onProgress({ ...swept, doing: `makes the case of seed ${seed} smaller` })
  const report = await untilAborted(job.ask({ do: 'report', story, seed }, `reported on seed ${seed}`), signal)
  return report?.did === 'report' ? { ...swept, failure: report.failure ?? swept.failure } : swept
}
