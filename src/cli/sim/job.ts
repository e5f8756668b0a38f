import { sweep, type SweepFailure } from '../../sim/sweep.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { JobAnswer, JobOrder, SimFailure } from './jobs.ts'
import { loadStories, type Stories } from './load-stories.ts'
import { tallyOf } from './seed-ranges.ts'

/** Runs in a child process that ends with its parent. */
export async function serveAsJob(file: string): Promise<void> {
  // Ctrl-C reaches all processes of a terminal; the parent ends this one.
  process.on('SIGINT', () => undefined)
  process.once('disconnect', () => process.exit())
  const stories = await loadStories(file)
  process.on('message', (order: JobOrder) => {
    void done(order, stories).then(answer, (error: unknown) => {
      answer({ did: 'nothing', message: error instanceof EntiaError ? error.message : thrownMessage(error) })
    })
  })
  answer({ did: 'ready' })
}

function answer(message: JobAnswer): void {
  process.send?.(message)
}

async function done(order: JobOrder, stories: Stories): Promise<JobAnswer> {
  const story = stories.get(order.story)
  if (story === undefined) throw new EntiaError('invalid-argument', `The file has lost its story '${order.story}'.`)
  if (order.do === 'report') {
    const { failure } = await sweep({ ...story, from: order.seed, seeds: 1 })
    return { did: 'report', failure: failure && failureOf(failure) }
  }
  const { range, keepGoing } = order
  const result = await sweep({ ...story, ...range, keepGoing, shrink: false })
  return { did: 'sweep', result: { tally: tallyOf(result), failure: result.failure && failureOf(result.failure) } }
}

function failureOf({ result, shrunk, report }: SweepFailure): SimFailure | undefined {
  const { seed, violation, faults } = result
  if (violation === undefined) return undefined
  const { law, meaning, message, world, tick, atMs } = violation
  const facts = { seed, law, meaning, message, world, tick, atMs, faults, report }
  if (shrunk === undefined) return facts
  const { latencyMs } = shrunk
  return { ...facts, shrunk: { faults: shrunk.faults, ...(latencyMs && { latencyMs }) } }
}
