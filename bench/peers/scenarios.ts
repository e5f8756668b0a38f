import { cpuMicros } from '../measure.ts'
import { answer, type Peer, type Work } from './work.ts'

/** One row of the table: so many runs of the same work, and what they are divided by. */
export interface Scenario {
  readonly title: string
  readonly work: Omit<Work, 'baseURL'>
  /** The model is behind a server, not in the process. @default false */
  readonly overHttp?: boolean
  /** Runs that are measured. A process is short, as most that run agents are: what is compiled meanwhile counts. */
  readonly runs: number
  /** Runs before. */
  readonly warmUp: number
  /** Runs under way at once. @default 1 */
  readonly atOnce?: number
  /** What the figure is for. @default 'run' */
  readonly per?: 'model call' | 'run'
}

/** By name, in the order in which they are measured. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'steps-2': steps(2, 2_000),
  'steps-51': steps(51, 40),
  'steps-201': steps(201, 10),
  'at-once': {
    title: '10,000 runs at once, in process, on a model that takes 20 ms',
    work: { toolCalls: 1, latencyMs: 20 },
    runs: 10_000,
    warmUp: 1_000,
    atOnce: 10_000,
  },
  'http-in-turn': {
    title: 'Runs over HTTP, one after another',
    work: { toolCalls: 1, latencyMs: 0 },
    overHttp: true,
    runs: 500,
    warmUp: 150,
  },
  'http-at-once': {
    title: '1,000 runs at once over HTTP, on a model that takes 20 ms',
    work: { toolCalls: 1, latencyMs: 20 },
    overHttp: true,
    runs: 3_000,
    warmUp: 1_000,
    atOnce: 1_000,
  },
}

function steps(modelCalls: number, runs: number): Scenario {
  return {
    title: `A run of ${modelCalls} model calls, in process`,
    work: { toolCalls: modelCalls - 1, latencyMs: 0 },
    runs,
    warmUp: Math.ceil(runs / 3),
    per: 'model call',
  }
}

/** How many of what a scenario's figure is for there are in a run. */
function unitsPerRun({ per, work }: Scenario): number {
  return per === 'model call' ? work.toolCalls + 1 : 1
}

/**
 * Microseconds of CPU that a peer takes for a run, or for a model call, on all threads of this process.
 *
 * @throws if a run ends with anything but the right answer
 */
export async function measure(peer: Peer, scenario: Scenario, baseURL: string | undefined): Promise<number> {
  const { work, runs, warmUp, atOnce = 1 } = scenario
  const run = await peer.open({ ...work, ...(baseURL !== undefined && { baseURL }) })
  const checked = async (): Promise<void> => {
    const text = await run()
    if (text !== answer(work.toolCalls))
      throw new Error(`A run must end with '${answer(work.toolCalls)}', got '${text}'.`)
  }
  await inWaves(warmUp, atOnce, checked)
  globalThis.gc?.()
  const before = cpuMicros()
  await inWaves(runs, atOnce, checked)
  return (cpuMicros() - before) / runs / unitsPerRun(scenario)
}

async function inWaves(count: number, atOnce: number, run: () => Promise<void>): Promise<void> {
  for (let done = 0; done < count; done += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, count - done) }, run))
  }
}
